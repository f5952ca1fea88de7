//! Flags of a run: items, judging, calls, budget.

use super::{
    BaselineFlags, CalibrationFlags, at_least_one, budget::budget_amount, deadline, evidence_mode,
};
use clap::Args;
use juror_app::run::run_setup::ItemSelection;
use juror_producer::plan::ItemSample;
use juror_types::{budget_label::LabelName, evidence::EvidenceMode, usage::Money};
use std::path::PathBuf;

/// Lanes of calls.
pub const LANES: [&str; 4] = ["realtime", "flex", "batch", "mixed"];

/// Flags that select items and configure their judging.
#[derive(Clone, Debug, Default, Args)]
pub struct JudgingFlags {
    /// Only N items at random, after the filters; the same seed chooses the same items
    #[arg(long, value_name = "N", value_parser = at_least_one::<u64>)]
    pub sample: Option<u64>,
    /// Seed of --sample [default: 0]
    #[arg(long, value_name = "S", requires = "sample")]
    pub seed: Option<u64>,
    /// Only the first N items, after the filters and the sample
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
    /// Only items whose field has this value; several filters must all hold
    #[arg(long, value_name = "KEY=VALUE")]
    pub filter: Vec<String>,
    /// Judge each item N times
    #[arg(long, value_name = "N")]
    pub repeat: Option<u32>,
    /// A built-in rubric (semantic, acrue) or a rubric file [default: semantic]
    #[arg(long, value_name = "NAME|FILE")]
    pub rubric: Option<String>,
    /// The vision model [default: gpt-4o]
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Lane in which calls are bought: realtime; flex (half the price, may take minutes, some of
    /// OpenAI's models); batch (half the price, within 24 hours); mixed (batches, then ordinary
    /// calls for jobs that they do not return in time) [default: realtime]
    #[arg(long, value_name = "LANE", value_parser = LANES)]
    pub lane: Option<String>,
    /// Render the generated code and measure it against the screenshot: facts lists the differences
    /// in the prompt, full also sends the rendered picture and crops [default: none]
    #[arg(long, value_name = "MODE", value_parser = evidence_mode)]
    pub evidence: Option<EvidenceMode>,
    /// Let a vision model judge, which costs money; without it only the free stages run
    #[arg(long)]
    pub enable_llm_judge: bool,
    /// Folder outside the dataset's own that may hold its files (repeatable)
    #[arg(long, value_name = "DIR")]
    pub data_root: Vec<PathBuf>,
}

impl JudgingFlags {
    /// Selection of the items.
    pub fn selection(&self) -> ItemSelection {
        let seed = self.seed.unwrap_or_default();
        ItemSelection {
            sample: self.sample.map(|items| ItemSample { items, seed }),
            limit: self.limit,
            filters: self.filter.clone(),
            ..ItemSelection::default()
        }
    }
}

/// Flags of this process's calls to the judge.
#[derive(Clone, Debug, Default, Args)]
pub struct CallingFlags {
    /// Base URL of the vision API [default: OpenAI's]
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// Requests per minute that calls may use [default: learned from the provider]
    #[arg(long, value_name = "N")]
    pub rpm: Option<u64>,
    /// Tokens per minute that calls may use [default: learned from the provider]
    #[arg(long, value_name = "N")]
    pub tpm: Option<u64>,
    /// Maximum number of calls in flight [default: 16 at first, then adapting]
    #[arg(short = 'j', long, value_name = "N", value_parser = at_least_one::<usize>)]
    pub max_concurrency: Option<usize>,
    /// Call the model although its reply is cached
    #[arg(long)]
    pub no_cache: bool,
}

/// Flags of a run, on this machine or in a fleet.
#[derive(Debug, Default, Args)]
pub struct RunFlags {
    /// A JSONL manifest, a CSV file, or a folder of screenshots; not needed with --resume
    #[arg(required_unless_present = "resume")]
    pub dataset: Option<PathBuf>,
    #[command(flatten)]
    pub judging: JudgingFlags,
    /// Maximum cost of the run, in US dollars
    #[arg(long, value_name = "AMOUNT", allow_negative_numbers = true, value_parser = budget_amount)]
    pub budget_usd: Option<Money>,
    /// Count the run's calls against the budgets of this tag too (repeatable, at most 8), beside
    /// those of its dataset; `juror budget set` caps them [default: budget.tags of the settings]
    #[arg(long, value_name = "NAME")]
    pub budget_tag: Vec<LabelName>,
    /// Start no call after this time of day (in budget.zone, else local) or duration, as in 07:00
    /// or 90m; the remaining jobs are skipped and can be resumed
    #[arg(long, value_name = "TIME|DURATION", value_parser = deadline)]
    pub deadline: Option<String>,
    /// Write the report to a file too (repeatable); the extension picks the format (.json .jsonl
    /// .csv .html .md .junit.xml)
    #[arg(short, long, value_name = "FILE")]
    pub output: Vec<PathBuf>,
    /// Exit with 100 unless this gate is met: targets, production, or a gate file
    #[arg(long, value_name = "NAME|FILE")]
    pub gate: Option<String>,
    #[command(flatten)]
    pub baseline: BaselineFlags,
    #[command(flatten)]
    pub calibration: CalibrationFlags,
    /// Copy the judged inputs (screenshots, code, tokens) into the run directory, so that pages
    /// show them after the dataset has changed; not for a fleet's runs
    #[arg(long)]
    pub keep_inputs: bool,
    /// Resume a run (its id, or its directory) with its budget, limits, cache, endpoint and kept
    /// inputs, unless flags say otherwise
    #[arg(long, value_name = "RUN", conflicts_with = "run_id")]
    pub resume: Option<String>,
    /// Name of the run; {date} is replaced by today, as in nightly-{date}, so that a nightly run
    /// that failed is resumed under its name [default: made from date and time]
    #[arg(long, value_name = "ID")]
    pub run_id: Option<String>,
    /// Check all that can be checked without spending, then stop; reads every local file of every
    /// item
    #[arg(long)]
    pub dry_run: bool,
}

/// `juror run`
#[derive(Debug, Args)]
pub struct RunArguments {
    #[command(flatten)]
    pub run: RunFlags,
    /// Judge a growing random sample until the 95 % interval of the score has at most this width,
    /// as a share, or the budget ends: 0.02 for a score that is known to within a point of 100
    #[arg(long, value_name = "SHARE", conflicts_with_all = ["sample", "limit"], allow_negative_numbers = true)]
    pub until_width: Option<f64>,
    #[command(flatten)]
    pub calling: CallingFlags,
}

/// `juror estimate`
#[derive(Debug, Args)]
pub struct EstimateArguments {
    /// A JSONL manifest, a CSV file, or a folder of screenshots
    pub dataset: PathBuf,
    #[command(flatten)]
    pub judging: JudgingFlags,
    #[command(flatten)]
    pub calling: CallingFlags,
    /// Compare every model that has a price
    #[arg(long)]
    pub all_models: bool,
    /// Examine every item, also of a dataset above 2,000 jobs [default: an even sample of 2,000]
    #[arg(long)]
    pub all_items: bool,
}
