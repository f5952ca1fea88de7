//! Flags of a fleet.

use super::{CallingFlags, RunFlags, budget::budget_amount, deadline, running::LANES};
use clap::{Args, Subcommand, ValueEnum};
use juror_queue::Priority;
use juror_types::usage::Money;
use std::path::PathBuf;

/// Addresses of the fleet's servers.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Options of the fleet")]
pub struct FleetFlags {
    /// RabbitMQ, as in amqp://user:password@host:5672; JUROR_FLEET_BROKER keeps a password out of
    /// process lists
    #[arg(long, value_name = "URL")]
    pub broker: Option<String>,
    /// Redis, as in redis://:password@host:6379; JUROR_FLEET_REDIS keeps a password out of process
    /// lists
    #[arg(long, value_name = "URL")]
    pub redis: Option<String>,
    /// Prefix of every exchange, queue and key [default: juror]
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// Accept budgets on a Redis that may lose what was spent
    #[arg(long)]
    pub allow_volatile_redis: bool,
}

/// Flags of the HTTP listener of a fleet's role.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Options of the fleet")]
pub struct HealthListenerFlags {
    /// Address of /metrics, /healthz and /readyz [default: not served]
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<std::net::SocketAddr>,
}

/// Priority of jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PriorityFlag {
    /// After all jobs of high priority
    #[default]
    Normal,
    /// Before all jobs of normal priority
    High,
}

impl From<PriorityFlag> for Priority {
    fn from(priority: PriorityFlag) -> Self {
        match priority {
            PriorityFlag::Normal => Self::Normal,
            PriorityFlag::High => Self::High,
        }
    }
}

const ENQUEUE_HELP: &str = "Endpoint, key, limits and prices come from the settings of the \
workers. Files of code and tokens up to 64 KB travel with the jobs; images do not, so the workers \
must find them under their --data-root, by the paths in the dataset. With --upload every local file \
that does not travel is first uploaded to a bucket, named by its content, so that no file is sent \
twice; the workers must have that bucket in files.buckets, and both sides credentials for it \
(AWS_ACCESS_KEY_ID and so on).

The run's id is printed as soon as the run is announced. If the command is killed or stopped, resume \
it with --run-id ID or --resume ID. With --wait the command follows the run to its end, prints the \
report and exits as `juror report` does; it can be repeated. The report, --output, --gate and \
--baseline need the aggregator's folder as --runs-dir; without them and it, the run's counts are \
printed and decide the exit code. The run keeps its gate, its baseline and the terms of their \
comparison: the aggregator decides by them, and so does every later command.";

/// `juror enqueue`
#[derive(Debug, Args)]
#[command(after_long_help = ENQUEUE_HELP)]
pub struct EnqueueArguments {
    #[command(flatten)]
    pub run: RunFlags,
    /// Priority of the jobs over those of other runs
    #[arg(long, value_name = "PRIORITY", value_enum, default_value_t)]
    pub priority: PriorityFlag,
    /// Follow the run to its end, print its report and exit with its code
    #[arg(long)]
    pub wait: bool,
    /// Upload the dataset's files there first, as in s3://bucket/prefix, for the workers to read
    #[arg(long, value_name = "URL")]
    pub upload: Option<String>,
    #[command(flatten)]
    pub fleet: FleetFlags,
}

/// `juror worker`
#[derive(Debug, Args)]
pub struct WorkerArguments {
    #[command(flatten)]
    pub fleet: FleetFlags,
    #[command(flatten)]
    pub serving: HealthListenerFlags,
    #[command(flatten)]
    pub calling: CallingFlags,
    /// Folder of datasets (repeatable); the worker opens no file outside of it
    #[arg(long, value_name = "DIR")]
    pub data_root: Vec<PathBuf>,
    /// Seconds that a stopping worker may take to finish its jobs [default: 90]
    #[arg(long, value_name = "SECONDS")]
    pub drain_timeout: Option<u32>,
}

/// `juror retry`
#[derive(Debug, Args)]
pub struct RetryArguments {
    /// The run's id
    pub run: String,
    /// New maximum of the run's total cost, in US dollars
    #[arg(long, value_name = "AMOUNT", allow_negative_numbers = true, value_parser = budget_amount)]
    pub budget_usd: Option<Money>,
    /// Start no call after this time of day (in budget.zone, else local) or duration, as in 07:00
    /// or 90m
    #[arg(long, value_name = "TIME|DURATION", value_parser = deadline)]
    pub deadline: Option<String>,
    /// Lane in which the calls are bought from now on: realtime, flex, batch or mixed [default: the
    /// run's]
    #[arg(long, value_name = "LANE", value_parser = LANES)]
    pub lane: Option<String>,
    #[command(flatten)]
    pub calling: CallingFlags,
    /// Priority of the jobs over those of other runs (only for a fleet's run)
    #[arg(long, value_name = "PRIORITY", value_enum)]
    pub priority: Option<PriorityFlag>,
    /// Follow the run to its end, print its report and exit with its code (only for a fleet's run)
    #[arg(long)]
    pub wait: bool,
    #[command(flatten)]
    pub fleet: FleetFlags,
}

/// `juror cancel`
#[derive(Debug, Args)]
pub struct CancelArguments {
    /// The run's id
    pub run: String,
    #[command(flatten)]
    pub fleet: FleetFlags,
}

/// `juror dead-letters`
#[derive(Debug, Subcommand)]
pub enum DeadLettersCommand {
    /// List the dead letters with their reasons
    List {
        /// Only those of this run
        #[arg(long, value_name = "RUN")]
        run: Option<String>,
        #[command(flatten)]
        fleet: FleetFlags,
    },
    /// Print a dead letter
    Show {
        /// The dead letter's id
        id: String,
        #[command(flatten)]
        fleet: FleetFlags,
    },
    /// Replay dead letters, each job in the round after its last
    Replay(ReplayArguments),
}

/// `juror dead-letters replay`
#[derive(Debug, Args)]
pub struct ReplayArguments {
    /// The dead letters' ids
    #[arg(required_unless_present = "all", value_name = "ID")]
    pub ids: Vec<String>,
    /// All dead letters of a run
    #[arg(long, requires = "run", conflicts_with = "ids")]
    pub all: bool,
    /// The run of --all
    #[arg(long, value_name = "RUN", requires = "all")]
    pub run: Option<String>,
    #[command(flatten)]
    pub fleet: FleetFlags,
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
    pub serving: HealthListenerFlags,
}
