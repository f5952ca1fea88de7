//! Arguments of `juror serve`.

use super::{CallingFlags, FleetFlags};
use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use juror_simulator::{BatchEnd, Bias, Latency, TokenCount};
use std::{net::SocketAddr, path::PathBuf, time::Duration};

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

/// `juror simulate`
#[derive(Debug, Args)]
pub struct SimulateArguments {
    /// Address to listen on; port 0 picks a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8484")]
    pub listen: SocketAddr,
    /// Limit of requests per minute
    #[arg(long, value_name = "N")]
    pub rpm: Option<u64>,
    /// Limit of tokens per minute
    #[arg(long, value_name = "N")]
    pub tpm: Option<u64>,
    /// Tokens of a request that count against --tpm [default: as the model's provider counts]
    #[arg(long, value_name = "RULE", value_parser = token_count())]
    pub count: Option<TokenCount>,
    /// Maximum number of concurrent requests; further ones are refused
    #[arg(long, value_name = "N")]
    pub max_parallel: Option<u64>,
    /// Latency of a reply in milliseconds, as N or MIN-MAX
    #[arg(long, value_name = "MS", default_value = "0", value_parser = latency)]
    pub latency_ms: Latency,
    /// Share of replies with a fault, as NAME=SHARE (repeatable), as in rate-limit=0.05;
    /// `--fault list` prints them all
    #[arg(long, value_name = "NAME=SHARE")]
    pub fault: Vec<String>,
    /// Imitate a quirk of a real server or gateway, as NAME or NAME=SHARE (repeatable); `--quirk
    /// list` prints them all
    #[arg(long, value_name = "NAME")]
    pub quirk: Vec<String>,
    /// End of a batch: after N polls, or, with `held`, on POST /end-batches
    #[arg(long, value_name = "N|held", default_value = "0", value_parser = batch_end)]
    pub batch_end: BatchEnd,
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
    pub bias: Vec<Bias>,
    /// Seed of latencies and faults
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// API key that requests must carry
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
}

fn token_count() -> impl TypedValueParser<Value = TokenCount> {
    PossibleValuesParser::new(["input", "sum", "max"]).map(|rule| match rule.as_str() {
        "input" => TokenCount::Input,
        "max" => TokenCount::Max,
        _ => TokenCount::Sum,
    })
}

fn batch_end(text: &str) -> Result<BatchEnd, &'static str> {
    match text {
        "held" => Ok(BatchEnd::OnRequest),
        polls => {
            polls.parse().map(BatchEnd::AfterPolls).map_err(|_| "give a number of polls, or held")
        }
    }
}

fn latency(text: &str) -> Result<Latency, &'static str> {
    let milliseconds = |text: &str| text.trim().parse().ok().map(Duration::from_millis);
    let (least, most) = text.split_once('-').unwrap_or((text, text));
    let bounds = milliseconds(least).zip(milliseconds(most)).filter(|(least, most)| least <= most);
    let (least, most) = bounds.ok_or("give milliseconds as N or MIN-MAX")?;
    Ok(Latency { least, most })
}
