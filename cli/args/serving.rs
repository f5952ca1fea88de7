//! Arguments of `juror serve`.

use super::{CallingFlags, FleetFlags};
use clap::Args;
use std::{net::SocketAddr, path::PathBuf};

const SERVING: &str = "Runs are started from the browser or over HTTP once datasets can be named: \
those that lie in a --data-root. Endpoint, key, prices and the caps of a day and a month are this \
process's own; a run that is judged needs a budget of its own.

Only this machine is served unless --listen names another address, which demands a token: in \
JUROR_SERVE_READ_TOKEN for those who may read, in JUROR_SERVE_WRITE_TOKEN for those who may start, \
resume and cancel runs too, or in files that the settings name.

With --broker and --redis runs are published to the fleet; without, they go on in this process, \
and SIGTERM or Ctrl-C finishes calls in flight and leaves them to be resumed.";

/// `juror serve`
#[derive(Debug, Args)]
#[command(after_long_help = SERVING)]
pub struct ServeArguments {
    /// Address to serve on; port 0 picks a free one [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<SocketAddr>,
    /// A folder whose datasets may be judged, and that they may name files in (repeatable)
    #[arg(long, value_name = "DIR")]
    pub data_root: Vec<PathBuf>,
    #[command(flatten)]
    pub calling: CallingFlags,
    #[command(flatten)]
    pub fleet: FleetFlags,
}
