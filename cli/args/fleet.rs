//! Flags of a fleet.

use super::{CallingFlags, RunFlags, deadline};
use clap::{Args, Subcommand, ValueEnum};
use juror_queue::Priority;
use juror_types::usage::Money;
use std::path::PathBuf;

/// Addresses of the fleet's servers.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Options of the fleet")]
pub struct FleetFlags {
    /// RabbitMQ, as in amqp://user:password@host:5672; better in JUROR_FLEET_BROKER
    #[arg(long, value_name = "URL")]
    pub broker: Option<String>,
    /// Redis, as in redis://:password@host:6379; better in JUROR_FLEET_REDIS
    #[arg(long, value_name = "URL")]
    pub redis: Option<String>,
    /// Prefix of every exchange, queue and key [default: juror]
    #[arg(long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// Allow a budget on a Redis that may forget it
    #[arg(long)]
    pub allow_volatile_redis: bool,
}

/// Flags by which a role of the fleet shows itself.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Options of the fleet")]
pub struct ServingFlags {
    /// Serve /metrics, /healthz and /readyz here [default: nowhere]
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<std::net::SocketAddr>,
}

/// Priority of jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PriorityFlag {
    /// After everything of high priority
    #[default]
    Normal,
    /// Before everything of normal priority
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

const ENQUEUING: &str = "Endpoint, key, limits and prices of calls are the workers' own. Files of \
code and tokens up to 64 KB travel with the jobs; images do not, so the workers must find them \
under a --data-root of theirs, by the names that the dataset gives them. With --upload every local \
file that does not travel is put into a bucket first, named by its content, so that what is there \
already is not sent again; the workers must have that bucket in files.buckets, and both sides an \
account for it (AWS_ACCESS_KEY_ID and so on).

The run's id is printed as soon as the run is announced. What was killed or stopped half-way goes \
on by the same command with --run-id ID, or by --resume ID. With --wait the command follows the run \
to its end, however often it is called, and then prints the report and exits as `juror report` \
does; for that, and for --output and --gate, --runs-dir must be the folder that the aggregator \
writes to. The aggregator compares the run with its --baseline at its end, by its own settings, in its \
own runs directory. Where that cannot be read, the run's counts are printed and decide the exit code.";

/// `juror enqueue`
#[derive(Debug, Args)]
#[command(after_long_help = ENQUEUING)]
pub struct EnqueueArguments {
    #[command(flatten)]
    pub run: RunFlags,
    /// Serve these jobs before those of other runs, or after them
    #[arg(long, value_name = "PRIORITY", value_enum, default_value_t)]
    pub priority: PriorityFlag,
    /// Follow the run to its end, print its report and exit by it
    #[arg(long)]
    pub wait: bool,
    /// Put the dataset's files there first, as in s3://bucket/prefix, and let the workers read them
    /// from there
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
    pub serving: ServingFlags,
    #[command(flatten)]
    pub calling: CallingFlags,
    /// A folder that datasets lie in (repeatable): no other file is opened
    #[arg(long, value_name = "DIR")]
    pub data_root: Vec<PathBuf>,
    /// Time that a worker that was asked to stop may take to finish what it has in hand, in seconds
    /// [default: 90]
    #[arg(long, value_name = "SECONDS")]
    pub drain_timeout: Option<u32>,
}

/// `juror retry`
#[derive(Debug, Args)]
pub struct RetryArguments {
    /// The run's id
    pub run: String,
    /// The most that the run may cost from now on in all, in US dollars
    #[arg(long, value_name = "AMOUNT", allow_negative_numbers = true)]
    pub budget_usd: Option<Money>,
    /// Begin no call after this time of day (in budget.zone, else local) or duration, as in 07:00
    /// or 90m
    #[arg(long, value_name = "TIME|DURATION", value_parser = deadline)]
    pub deadline: Option<String>,
    #[command(flatten)]
    pub calling: CallingFlags,
    /// Serve these jobs before those of other runs, or after them (only for a fleet's run)
    #[arg(long, value_name = "PRIORITY", value_enum)]
    pub priority: Option<PriorityFlag>,
    /// Follow the run to its end, print its report and exit by it (only for a fleet's run)
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
    /// List what was kept aside, and why
    List {
        /// Only what belongs to this run
        #[arg(long, value_name = "RUN")]
        run: Option<String>,
        #[command(flatten)]
        fleet: FleetFlags,
    },
    /// Print a job that was kept aside
    Show {
        /// The job's id
        id: String,
        #[command(flatten)]
        fleet: FleetFlags,
    },
    /// Send jobs again, in the round after their last
    Replay(ReplayArguments),
}

/// `juror dead-letters replay`
#[derive(Debug, Args)]
pub struct ReplayArguments {
    /// The jobs' ids
    #[arg(required_unless_present = "all", value_name = "ID")]
    pub ids: Vec<String>,
    /// Every one of a run
    #[arg(long, requires = "run", conflicts_with = "ids")]
    pub all: bool,
    /// The run of --all
    #[arg(long, value_name = "RUN", requires = "all")]
    pub run: Option<String>,
    #[command(flatten)]
    pub fleet: FleetFlags,
}
