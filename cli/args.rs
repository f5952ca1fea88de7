//! The command line.

mod budget;
mod examples;
mod fleet;
mod reporting;
mod running;
mod runs;
mod serving;

pub use budget::BudgetCommand;
pub use examples::command;
pub use fleet::{
    AggregateArguments, CancelArguments, DeadLettersCommand, EnqueueArguments, FleetFlags,
    HealthListenerFlags, ReplayArguments, RetryArguments, WorkerArguments,
};
pub use reporting::{
    BaselineFlags, BlessArguments, CalibrateArguments, CalibrationFlags, CompareArguments,
    ComparingFlags, ReportArguments,
};
pub use running::{CallingFlags, EstimateArguments, JudgingFlags, RunArguments, RunFlags};
pub use runs::{PruneArguments, RunsArguments, RunsCommand, TrendArguments};
pub use serving::{ServeArguments, SimulateArguments};

use clap::{Args, Parser, Subcommand, ValueEnum};
use juror_app::settings::{Deadline, InvalidDeadline};
use juror_types::evidence::EvidenceMode;
use std::{path::PathBuf, str::FromStr};

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
    /// Folder of juror.db: ledger, claims, reply cache [default: the runs directory]
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

/// Commands of `juror`.
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
    /// Show or clear the reply cache
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
    /// Write the report to a file too (repeatable); the extension picks the format (.json .jsonl
    /// .csv .html .md .junit.xml)
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
    #[arg(short = 'j', long, value_name = "N", value_parser = at_least_one::<usize>)]
    pub max_concurrency: Option<usize>,
    /// Name of the run
    #[arg(long, value_name = "ID")]
    pub run_id: Option<String>,
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

fn evidence_mode(text: &str) -> Result<EvidenceMode, String> {
    EvidenceMode::from_name(text).ok_or_else(|| "give none, facts or full".to_owned())
}

/// Checks a deadline, and returns it as it was written.
fn deadline(text: &str) -> Result<String, InvalidDeadline> {
    Deadline::try_from(text.to_owned()).map(|_| text.to_owned())
}

fn at_least_one<N: FromStr + PartialOrd + Default>(text: &str) -> Result<N, String> {
    text.parse()
        .ok()
        .filter(|number| *number > N::default())
        .ok_or_else(|| "give a whole number of at least 1".to_owned())
}
