//! The command line.

use clap::{Args, Parser, Subcommand};
use juror_common::usage::Money;
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
3 finished incomplete (failed, unscorable or skipped jobs); 100 gate not met.";

/// Flags that every command takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of every command")]
pub struct GlobalFlags {
    /// Settings file [default: juror.toml in the current folder, if there is one]
    #[arg(short, long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Where runs keep their journals and reports [default: runs]
    #[arg(long, global = true, value_name = "DIR")]
    pub runs_dir: Option<PathBuf>,
    /// Folder of juror.db: ledger, claims, verdict cache [default: the runs directory]
    #[arg(long, global = true, value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// Print results as JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Print nothing but results and errors
    #[arg(short, long, global = true)]
    pub quiet: bool,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Judge the bundled golden set against the simulator: no key, no server, no cost
    Demo(DemoArguments),
    /// Judge a dataset: producer, workers and aggregator in one process
    Run(Box<RunArguments>),
    /// Render a run's report again from its journal
    Report(ReportArguments),
    /// Tell what a run would take: tokens, money, time
    Estimate(Box<EstimateArguments>),
    /// Judge again what a run did not score
    Retry(RetryArguments),
    /// List the runs
    Runs,
    /// Show and check rubrics
    #[command(subcommand)]
    Rubric(RubricCommand),
    /// Look at the verdict cache, or empty it
    #[command(subcommand)]
    Cache(CacheCommand),
    /// Check settings, key, endpoint, prices, dataset and disk, and say what to do
    Doctor(Box<DoctorArguments>),
    /// Serve a vision API that costs nothing
    Simulate(SimulateArguments),
    /// Print every setting with its default and what it means
    Settings,
}

/// `juror demo`
#[derive(Debug, Args)]
pub struct DemoArguments {
    /// Write the report to a file too; the ending picks the format (.json .jsonl .csv)
    #[arg(short, long, value_name = "FILE")]
    pub output: Vec<PathBuf>,
    /// Judge the restyled photographs by the ACRUE rubric instead of the interface components
    #[arg(long)]
    pub acrue: bool,
    /// Calls in flight at most
    #[arg(short = 'j', long, value_name = "N", value_parser = at_least_one)]
    pub max_concurrency: Option<usize>,
    /// Name of the run
    #[arg(long, value_name = "ID")]
    pub run_id: Option<String>,
}

/// Which items, and how they are judged.
#[derive(Debug, Default, Args)]
pub struct JudgingFlags {
    /// Only the first N items, after the filters
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
    /// Only items whose field has this value; several must all hold
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
    /// Where the vision API is [default: OpenAI's]
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// Requests per minute that calls may use [default: learned from the provider]
    #[arg(long, value_name = "N")]
    pub rpm: Option<u64>,
    /// Tokens per minute that calls may use [default: learned from the provider]
    #[arg(long, value_name = "N")]
    pub tpm: Option<u64>,
    /// Calls in flight at most [default: 16 at first, then adapting]
    #[arg(short = 'j', long, value_name = "N", value_parser = at_least_one)]
    pub max_concurrency: Option<usize>,
    /// Let a vision model judge, which costs money; without it only the free stages run
    #[arg(long)]
    pub enable_llm_judge: bool,
    /// A folder that the dataset may name files in, beside its own (repeatable)
    #[arg(long, value_name = "DIR")]
    pub data_root: Vec<PathBuf>,
    /// Ask again although the answer is in the cache
    #[arg(long)]
    pub no_cache: bool,
}

/// `juror run`
#[derive(Debug, Args)]
pub struct RunArguments {
    /// A JSONL manifest, a CSV file, or a folder of screenshots; not needed with --resume
    #[arg(required_unless_present = "resume")]
    pub dataset: Option<PathBuf>,
    #[command(flatten)]
    pub judging: JudgingFlags,
    /// The most that the run may cost, in US dollars
    #[arg(long, value_name = "AMOUNT", allow_negative_numbers = true)]
    pub budget_usd: Option<Money>,
    /// Write the report to a file too (repeatable); the ending picks the format (.json .jsonl .csv)
    #[arg(short, long, value_name = "FILE")]
    pub output: Vec<PathBuf>,
    /// Exit with 100 unless this gate is met: targets, production, or a gate file
    #[arg(long, value_name = "NAME|FILE")]
    pub gate: Option<String>,
    /// Go on with a run where it stopped
    #[arg(long, value_name = "RUN", conflicts_with = "run_id")]
    pub resume: Option<String>,
    /// Name of the run [default: made from date and time]
    #[arg(long, value_name = "ID")]
    pub run_id: Option<String>,
    /// Check everything that can be checked without spending, then stop
    #[arg(long)]
    pub dry_run: bool,
}

/// `juror report`
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// The run's id
    pub run: String,
    /// Write the report to a file too; the ending picks the format (.json .jsonl .csv)
    #[arg(short, long, value_name = "FILE")]
    pub output: Vec<PathBuf>,
    /// Exit with 100 unless this gate is met: targets, production, or a gate file
    #[arg(long, value_name = "NAME|FILE")]
    pub gate: Option<String>,
}

/// `juror estimate`
#[derive(Debug, Args)]
pub struct EstimateArguments {
    /// A JSONL manifest, a CSV file, or a folder of screenshots
    pub dataset: PathBuf,
    #[command(flatten)]
    pub judging: JudgingFlags,
    /// Compare every model that has a price
    #[arg(long)]
    pub all_models: bool,
}

/// `juror retry`
#[derive(Debug, Args)]
pub struct RetryArguments {
    /// The run's id
    pub run: String,
    /// The most that the run may cost from now on in all, in US dollars
    #[arg(long, value_name = "AMOUNT", allow_negative_numbers = true)]
    pub budget_usd: Option<Money>,
    /// Calls in flight at most
    #[arg(short = 'j', long, value_name = "N", value_parser = at_least_one)]
    pub max_concurrency: Option<usize>,
}

/// `juror rubric`
#[derive(Debug, Subcommand)]
pub enum RubricCommand {
    /// List the built-in rubrics
    List,
    /// Print a rubric's file
    Show {
        /// A built-in rubric or a rubric file
        rubric: String,
    },
    /// Check a rubric file, and show what the judge would be told
    Check {
        /// The rubric file
        file: PathBuf,
    },
}

/// `juror cache`
#[derive(Debug, Subcommand)]
pub enum CacheCommand {
    /// Tell what the cache holds
    Stats,
    /// Empty the cache
    Clear,
}

/// `juror doctor`
#[derive(Debug, Args)]
pub struct DoctorArguments {
    /// A dataset to check too
    pub dataset: Option<PathBuf>,
    #[command(flatten)]
    pub judging: JudgingFlags,
}

/// `juror simulate`
#[derive(Debug, Args)]
pub struct SimulateArguments {
    /// Address to listen on; port 0 picks a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8484")]
    pub listen: std::net::SocketAddr,
    /// Requests per minute that are enforced
    #[arg(long, value_name = "N")]
    pub rpm: Option<u64>,
    /// Tokens per minute that are enforced
    #[arg(long, value_name = "N")]
    pub tpm: Option<u64>,
    /// How long an answer takes, in milliseconds, as N or MIN-MAX
    #[arg(long, value_name = "MS", default_value = "0")]
    pub latency_ms: String,
    /// How often a fault happens, as NAME=SHARE (repeatable), as in rate-limit=0.05
    #[arg(long, value_name = "NAME=SHARE")]
    pub fault: Vec<String>,
    /// Seed of latencies and faults
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Key that calls must carry
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("give a whole number of at least 1".to_owned()),
        Ok(number) => Ok(number),
    }
}
