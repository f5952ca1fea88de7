//! The command line.

mod budget;
mod examples;
mod fleet;
mod running;
mod runs;
mod serving;

pub use budget::BudgetCommand;
pub use examples::command;
pub use fleet::{
    CancelArguments, DeadLettersCommand, EnqueueArguments, FleetFlags, ReplayArguments,
    RetryArguments, ServingFlags, WorkerArguments,
};
pub use running::{CallingFlags, EstimateArguments, JudgingFlags, RunArguments, RunFlags};
pub use runs::{PruneArguments, RunsArguments, RunsCommand, TrendArguments};
pub use serving::ServeArguments;

use clap::{Args, Parser, Subcommand, ValueEnum};
use juror_app::settings::{Deadline, InvalidDeadline};
use juror_journal::blessed::DEFAULT_BASELINE;
use juror_types::evidence::EvidenceMode;
use std::path::PathBuf;

/// Judges screenshots at scale with a vision model.
#[derive(Debug, Parser)]
#[command(name = "juror", version, about, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Arguments {
    #[command(flatten)]
    pub global: GlobalFlags,
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 done and gate met; 1 error; 2 usage or settings; \
3 finished incomplete (jobs without output, failed, unscorable or skipped); 4 inconclusive comparison, only with \
--strict; 100 gate not met, or worse than the baseline.";

/// Flags that every command takes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Options of every command")]
pub struct GlobalFlags {
    /// Settings file [default: juror.toml in the current folder, if there is one]
    #[arg(short, long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Directory of the runs' journals and reports [default: runs]
    #[arg(long, global = true, value_name = "DIR")]
    pub runs_dir: Option<PathBuf>,
    /// Folder of juror.db: ledger, claims, verdict cache [default: the runs directory]
    #[arg(long, global = true, value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// Print results as JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Log as text, or as JSON, one object a line [default: text]
    #[arg(long, global = true, value_name = "FORMAT", value_parser = ["text", "json"])]
    pub log_format: Option<String>,
    /// Print nothing but results and errors
    #[arg(short, long, global = true)]
    pub quiet: bool,
}

/// Commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write settings and a small example dataset to start from
    Init(InitArguments),
    /// Judge the bundled golden set against the simulator: no key, no server, no cost
    Demo(DemoArguments),
    /// Judge a dataset: producer, workers and aggregator in one process
    Run(Box<RunArguments>),
    /// Render a run's report again from its journal
    Report(ReportArguments),
    /// Compare two runs: is the second worse, where, and how certain is that
    Compare(CompareArguments),
    /// Name a run as the baseline that others are compared with
    Bless(BlessArguments),
    /// Calibrate a run's judge against people's ratings
    Calibrate(CalibrateArguments),
    /// Estimate the tokens, cost and time of a run
    Estimate(Box<EstimateArguments>),
    /// Retry the jobs that a run did not score
    Retry(RetryArguments),
    /// Publish a dataset's jobs to a fleet, and print the run's id
    Enqueue(Box<EnqueueArguments>),
    /// Cancel a run of a fleet, or the batches of a run of this machine: jobs that are not judged
    /// yet are skipped, results are kept
    Cancel(CancelArguments),
    /// List, show and replay jobs that killed their workers
    #[command(subcommand)]
    DeadLetters(DeadLettersCommand),
    /// Run a worker of a fleet, which judges jobs until it is stopped
    Worker(Box<WorkerArguments>),
    /// Run a fleet's aggregator, which commits results to journals and writes reports
    Aggregate(AggregateArguments),
    /// List, show and prune runs, and show how their metrics changed
    Runs(RunsArguments),
    /// Show and check rubrics
    #[command(subcommand)]
    Rubric(RubricCommand),
    /// Show or clear the verdict cache
    #[command(subcommand)]
    Cache(CacheCommand),
    /// Show and set budgets of runs, days and months, and show past spending
    #[command(subcommand)]
    Budget(BudgetCommand),
    /// Check settings, key, endpoint, prices, dataset, disk and the fleet's servers, and print
    /// remedies
    Doctor(Box<DoctorArguments>),
    /// Serve a dashboard and an HTTP API over the runs
    Serve(Box<ServeArguments>),
    /// Serve a simulated vision API, which costs nothing
    Simulate(SimulateArguments),
    /// Print every setting with its default and meaning
    Settings,
    /// Print the completion script of a shell
    Completions(CompletionArguments),
    /// Print the manual page, or write a page for each command into a folder
    Man(ManArguments),
}

/// `juror init`
#[derive(Debug, Args)]
pub struct InitArguments {
    /// The folder to write to
    #[arg(default_value = ".")]
    pub folder: PathBuf,
}

/// `juror completions`
#[derive(Debug, Args)]
pub struct CompletionArguments {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// `juror man`
#[derive(Debug, Args)]
pub struct ManArguments {
    /// Write a page for each command into this folder
    pub folder: Option<PathBuf>,
}

/// `juror demo`
#[derive(Debug, Args)]
pub struct DemoArguments {
    /// Write the report to a file too (repeatable); the ending picks the format (.json .jsonl .csv
    /// .html .md .junit.xml)
    #[arg(short, long, value_name = "FILE")]
    pub output: Vec<PathBuf>,
    /// Judge the restyled photographs by the ACRUE rubric instead of the interface components
    #[arg(long)]
    pub acrue: bool,
    /// Measure the drawn code against the screenshots: none, facts or full [default: facts where a
    /// browser is found]
    #[arg(long, value_name = "MODE", value_parser = evidence_mode, conflicts_with = "acrue")]
    pub evidence: Option<EvidenceMode>,
    /// Maximum number of calls in flight
    #[arg(short = 'j', long, value_name = "N", value_parser = at_least_one)]
    pub max_concurrency: Option<usize>,
    /// Name of the run
    #[arg(long, value_name = "ID")]
    pub run_id: Option<String>,
}

/// `juror report`
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// The run: its id, or its directory
    pub run: String,
    /// Write the report to a file too (repeatable); the ending picks the format (.json .jsonl .csv
    /// .html .md .junit.xml)
    #[arg(short, long, value_name = "FILE")]
    pub output: Vec<PathBuf>,
    /// Exit with 100 unless this gate is met: targets, production, or a gate file
    #[arg(long, value_name = "NAME|FILE")]
    pub gate: Option<String>,
    #[command(flatten)]
    pub against: BaselineFlags,
    #[command(flatten)]
    pub known: CalibrationFlags,
    #[command(flatten)]
    pub fleet: FleetFlags,
}

/// `juror compare`
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// The run to compare against: the name that it is blessed by, its id, or its directory
    pub base: String,
    /// The run that may have got worse: its id, its directory, or a name that it is blessed by
    pub head: String,
    #[command(flatten)]
    pub comparing: ComparingFlags,
    /// Write the comparison to a file too (repeatable); the ending picks the format (.json .md)
    #[arg(short, long, value_name = "FILE")]
    pub output: Vec<PathBuf>,
}

/// `juror bless`
#[derive(Debug, Args)]
pub struct BlessArguments {
    /// The run: its id, or its directory
    #[arg(required_unless_present_any = ["list", "remove"])]
    pub run: Option<String>,
    /// Name of the baseline; a run that has it already loses it
    #[arg(long, value_name = "NAME", default_value = DEFAULT_BASELINE)]
    pub name: String,
    /// Bless the run although jobs of it have no score (unscorable, failed, skipped or without a
    /// result)
    #[arg(long)]
    pub force: bool,
    /// List the blessed runs
    #[arg(long, conflicts_with_all = ["run", "force", "remove"])]
    pub list: bool,
    /// Remove this name; the run itself is kept
    #[arg(long, value_name = "NAME", conflicts_with_all = ["run", "force"])]
    pub remove: Option<String>,
}

/// `juror calibrate`
#[derive(Debug, Args)]
pub struct CalibrateArguments {
    /// The run whose judge is calibrated: its id, or its directory
    pub run: String,
    /// Ratings of people, .jsonl or .csv [default: the labels of the dataset's items]
    #[arg(long, value_name = "FILE")]
    pub labels: Option<PathBuf>,
    /// Write the calibration to a file too, as .json (repeatable)
    #[arg(short, long, value_name = "FILE")]
    pub output: Vec<PathBuf>,
}

/// Flags of the judge's calibration.
#[derive(Debug, Default, Args)]
pub struct CalibrationFlags {
    /// Calibration of the judge against people, as juror calibrate wrote it [default: the newest of
    /// the same judge in the runs directory]
    #[arg(long, value_name = "FILE")]
    pub calibration: Option<PathBuf>,
}

/// Flags of comparisons.
#[derive(Debug, Default, Args)]
pub struct ComparingFlags {
    /// Largest change of the score, as a share, that does not matter [default: 0.01]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub margin: Option<f64>,
    /// Let a criterion that got worse decide too, and exit with 4 if the comparison is inconclusive
    #[arg(long)]
    pub strict: bool,
    /// Maximum share of the base's items that may be lost (not scored in the head); above it the
    /// comparison is at best inconclusive [default: 0.02]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub max_lost: Option<f64>,
}

/// Flags of a run's baseline.
#[derive(Debug, Default, Args)]
pub struct BaselineFlags {
    /// Compare with this run: the name that it is blessed by, its id, its directory or its
    /// report.json; exit with 100 if it got worse [default: run.baseline of the settings]
    #[arg(long, value_name = "NAME|RUN|FILE")]
    pub baseline: Option<String>,
    #[command(flatten)]
    pub comparing: ComparingFlags,
}

/// `juror aggregate`
#[derive(Debug, Args)]
pub struct AggregateArguments {
    /// Write the fleet's results into this --runs-dir from now on, if they went elsewhere; runs
    /// that are incomplete there are not continued
    #[arg(long)]
    pub take_over: bool,
    #[command(flatten)]
    pub fleet: FleetFlags,
    #[command(flatten)]
    pub serving: ServingFlags,
}

/// `juror rubric`
#[derive(Debug, Subcommand)]
pub enum RubricCommand {
    /// List the built-in rubrics
    List,
    /// Print the prompt of a rubric
    Show {
        /// A built-in rubric, as in semantic or semantic@1, or a rubric file
        rubric: String,
        /// Print the rubric's file instead
        #[arg(long)]
        file: bool,
    },
    /// Check rubric files
    Check {
        /// The rubric files
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}

const CACHE: &str = "Replies: with a fleet's Redis (--redis, JUROR_FLEET_REDIS or fleet.redis) those of \
the fleet, otherwise those of this machine. Renders: the pictures of rendered code on this machine; \
unchanged code needs no browser while its picture is kept, and reports show it.";

/// Part of what is kept between runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CachePart {
    /// Cached replies of the judge
    Replies,
    /// Pictures of rendered code
    Renders,
}

/// `juror cache`
#[derive(Debug, Subcommand)]
pub enum CacheCommand {
    /// Show the number, size and cost of the cached replies, and the kept pictures of rendered code
    #[command(after_help = CACHE)]
    Stats {
        #[command(flatten)]
        fleet: FleetFlags,
    },
    /// Remove the cached replies and the kept pictures of rendered code
    #[command(after_help = CACHE)]
    Clear {
        /// Forget this part alone
        #[arg(long, value_name = "PART")]
        only: Option<CachePart>,
        #[command(flatten)]
        fleet: FleetFlags,
    },
}

/// `juror doctor`
#[derive(Debug, Args)]
pub struct DoctorArguments {
    /// A dataset to check too, with every local file of every item
    pub dataset: Option<PathBuf>,
    #[command(flatten)]
    pub judging: JudgingFlags,
    #[command(flatten)]
    pub calling: CallingFlags,
    #[command(flatten)]
    pub fleet: FleetFlags,
}

/// `juror simulate`
#[derive(Debug, Args)]
pub struct SimulateArguments {
    /// Address to listen on; port 0 picks a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8484")]
    pub listen: std::net::SocketAddr,
    /// Limit of requests per minute
    #[arg(long, value_name = "N")]
    pub rpm: Option<u64>,
    /// Limit of tokens per minute
    #[arg(long, value_name = "N")]
    pub tpm: Option<u64>,
    /// Tokens of a request that count against --tpm [default: as the model's provider counts]
    #[arg(long, value_name = "RULE", value_parser = ["input", "sum", "max"])]
    pub count: Option<String>,
    /// Maximum number of concurrent requests; further ones are refused
    #[arg(long, value_name = "N")]
    pub max_parallel: Option<u64>,
    /// Latency of a reply in milliseconds, as N or MIN-MAX
    #[arg(long, value_name = "MS", default_value = "0")]
    pub latency_ms: String,
    /// Share of replies with a fault, as NAME=SHARE (repeatable), as in rate-limit=0.05
    #[arg(long, value_name = "NAME=SHARE")]
    pub fault: Vec<String>,
    /// Imitate a quirk of a real server or gateway, as NAME or NAME=SHARE (repeatable); `--quirk
    /// list` prints them all
    #[arg(long, value_name = "NAME")]
    pub quirk: Vec<String>,
    /// End of a batch: after N polls, or, with `held`, on POST /end-batches
    #[arg(long, value_name = "N|held", default_value = "0")]
    pub batch_end: String,
    /// Inject a fault into batches, as NAME or NAME=SHARE (repeatable); `--batch-fault list` prints
    /// them all
    #[arg(long, value_name = "NAME")]
    pub batch_fault: Vec<String>,
    /// Maximum number of input tokens in unfinished batches
    #[arg(long, value_name = "N")]
    pub batch_tokens: Option<u64>,
    /// Add points to every score of a criterion, as CRITERION=POINTS (repeatable), as in
    /// visual_similarity=-2: a change for juror compare to find
    #[arg(long, value_name = "CRITERION=POINTS")]
    pub bias: Vec<String>,
    /// Seed of latencies and faults
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// API key that requests must carry
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
}

fn evidence_mode(text: &str) -> Result<EvidenceMode, String> {
    let found = EvidenceMode::ALL.into_iter().find(|mode| mode.name() == text);
    found.ok_or_else(|| "give none, facts or full".to_owned())
}

/// Checks a deadline, and returns it as it was written.
fn deadline(text: &str) -> Result<String, InvalidDeadline> {
    text.parse::<Deadline>().map(|_| text.to_owned())
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("give a whole number of at least 1".to_owned()),
        Ok(number) => Ok(number),
    }
}
