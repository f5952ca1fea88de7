//! Arguments of `juror runs`.

use super::{FleetFlags, at_least_one};
use clap::{Args, Subcommand};

/// `juror runs`
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct RunsArguments {
    #[command(subcommand)]
    pub command: Option<RunsCommand>,
    #[command(flatten)]
    pub fleet: FleetFlags,
}

/// Commands of `juror runs`
#[derive(Debug, Subcommand)]
pub enum RunsCommand {
    /// List the runs, newest first
    List {
        #[command(flatten)]
        fleet: FleetFlags,
    },
    /// Show a run's parameters, coverage and cost, without its items
    Show {
        /// The run: its id, its directory, or a name that it is blessed by
        run: String,
        #[command(flatten)]
        fleet: FleetFlags,
    },
    /// Show how each metric changed over runs of the same items, rubric and judge, with 95 %
    /// intervals and costs
    Trend(TrendArguments),
    /// Remove old runs with their records in the ledger, and unused cached replies; blessed
    /// runs, active runs, the first ones and the newest one of each series are kept
    Prune(PruneArguments),
}

/// `juror runs prune`
#[derive(Debug, Args)]
pub struct PruneArguments {
    /// Days to keep runs after their last result [default: unlimited]
    #[arg(long, value_name = "DAYS")]
    pub keep_days: Option<u32>,
    /// Maximum megabytes of all runs together; the oldest are removed first [default: unlimited]
    #[arg(long, value_name = "MEGABYTES")]
    pub max_mb: Option<u64>,
    /// Days to keep cached replies after their last use [default: unlimited]
    #[arg(long, value_name = "DAYS")]
    pub keep_reply_days: Option<u32>,
    /// Print what would be removed, and remove nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// `juror runs trend`
#[derive(Debug, Args)]
pub struct TrendArguments {
    /// A run of the series: the same items, rubric and judge [default: the newest]
    pub run: Option<String>,
    /// Only the last N runs
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = at_least_one::<u32>)]
    pub last: u32,
    /// Only this metric, as in semantic.avg_visual_similarity (repeatable)
    #[arg(long = "metric", value_name = "PATH")]
    pub metrics: Vec<String>,
}
