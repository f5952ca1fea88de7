//! Arguments of `juror serve`.

use super::{CallingFlags, FleetFlags};
use clap::Args;
use std::{net::SocketAddr, path::PathBuf};

const SERVE_HELP: &str = "Runs of datasets in a --data-root can be started from the browser or over \
HTTP. Endpoint, key, prices and the caps of a day and a month come from the settings of this process; \
a run that is judged needs a budget of its own.

The default address accepts connections from this machine only. Another --listen address requires a \
token: JUROR_SERVE_READ_TOKEN to read, JUROR_SERVE_WRITE_TOKEN to start, resume and cancel runs too, \
or files that the settings name.

With --broker and --redis runs are published to the fleet; without, they are judged in this process: \
SIGTERM or Ctrl-C finishes the calls in flight, and the runs can be resumed.";

/// `juror serve`
#[derive(Debug, Args)]
#[command(after_long_help = SERVE_HELP)]
pub struct ServeArguments {
    /// Address to serve on; port 0 picks a free one [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<SocketAddr>,
    /// Folder of the datasets that may be judged, and of their files (repeatable)
    #[arg(long, value_name = "DIR")]
    pub data_root: Vec<PathBuf>,
    #[command(flatten)]
    pub calling: CallingFlags,
    #[command(flatten)]
    pub fleet: FleetFlags,
}
