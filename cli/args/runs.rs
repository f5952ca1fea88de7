//! Flags of `juror runs`: what the runs directory holds, and what may go.

use super::FleetFlags;
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
    /// Show what a run is and what it came to, without its items
    Show {
        /// The run: its id, or its directory
        run: String,
        #[command(flatten)]
        fleet: FleetFlags,
    },
    /// Show how each metric changed over the runs that asked the same, with 95 % intervals and
    /// costs
    Trend(TrendArguments),
    /// Take old runs away, with what the ledger keeps of them, and verdicts of the cache that
    /// nobody asks for; blessed runs, runs that go on, the first ones and the newest one of each
    /// series stay
    Prune(PruneArguments),
}

/// `juror runs prune`
#[derive(Debug, Args)]
pub struct PruneArguments {
    /// Keep runs for so many days after their last result [default: any age]
    #[arg(long, value_name = "DAYS")]
    pub keep_days: Option<u32>,
    /// Megabytes that all runs together may take; the oldest go first [default: unlimited]
    #[arg(long, value_name = "MEGABYTES")]
    pub max_mb: Option<u64>,
    /// Keep cached verdicts for so many days after their last use [default: for ever]
    #[arg(long, value_name = "DAYS")]
    pub keep_reply_days: Option<u32>,
    /// Say what would be removed, and remove nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// `juror runs trend`
#[derive(Debug, Args)]
pub struct TrendArguments {
    /// The run whose kind is meant: the same items, rubric and judge [default: the newest]
    pub run: Option<String>,
    /// Only the last so many runs
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub last: u32,
    /// Only this metric, as in semantic.avg_visual_similarity (repeatable)
    #[arg(long = "metric", value_name = "PATH")]
    pub metrics: Vec<String>,
}
