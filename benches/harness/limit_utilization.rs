//! Used share of an enforced limit, as counted by the simulator.

use super::{Asking, Mark, MarkTable};
use serde_json::Value;
use std::time::Duration;

/// Time in which the limit is learned from the first responses.
const WARM_UP: Duration = Duration::from_secs(3);
/// Excluded requests at the end: too few are left to use the limit.
const LAST: u64 = 300;

/// Limits per minute that the simulator enforces.
#[derive(Clone, Copy, Debug)]
pub enum Enforced {
    Requests(u64),
    Tokens(u64),
}

impl Enforced {
    /// Flags that enforce the limit in the simulator and configure it in Juror.
    pub fn flags(self) -> [String; 2] {
        match self {
            Self::Requests(limit) => ["--rpm".to_owned(), limit.to_string()],
            Self::Tokens(limit) => ["--tpm".to_owned(), limit.to_string()],
        }
    }

    /// Adds rows on the utilization by this many requests; `known` describes the source of Juror's
    /// limit.
    pub fn print(self, table: &MarkTable, known: &str, asking: &Asking, requests: usize) {
        let (seconds, from, until) = asking.steady(WARM_UP, requests as u64, LAST);
        let (what, limit, used, mark) = match self {
            Self::Requests(limit) => ("requests", limit, grown(from, until, admitted), 97.0),
            Self::Tokens(limit) => ("tokens", limit, grown(from, until, counted_tokens), 95.0),
        };
        let share = used / seconds / (limit as f64 / 60.0);
        let what = format!("{what} per minute, limit {known}");
        table.marked(what, 100.0 * share, "%", Mark::AtLeast(mark));
        let refusals =
            grown(from, until, refused) / grown(from, until, |stats| of(stats, "requests"));
        table.marked("  requests that were refused", 100.0 * refusals, "%", Mark::AtMost(0.1));
        table.row("  in the first seconds", refused(from) as f64, "refused");
    }
}

fn grown(from: &Value, until: &Value, count: impl Fn(&Value) -> u64) -> f64 {
    count(until).saturating_sub(count(from)) as f64
}

fn of(stats: &Value, name: &str) -> u64 {
    stats[name].as_u64().unwrap_or(0)
}

fn refused(stats: &Value) -> u64 {
    let codes = stats["refusals"].as_object();
    codes.into_iter().flat_map(|codes| codes.values()).filter_map(Value::as_u64).sum()
}

fn admitted(stats: &Value) -> u64 {
    of(stats, "requests") - refused(stats)
}

/// Tokens as the simulator counts them against its limit.
fn counted_tokens(stats: &Value) -> u64 {
    of(stats, "counted_tokens")
}
