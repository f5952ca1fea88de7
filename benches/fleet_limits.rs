//! Share of enforced limits that several worker processes use together, number of the provider's
//! refusals, and Redis's processor time.
//!
//! `cargo bench --bench fleet_limits -- SECONDS WORKERS` (15 for each limit, 4; 64 workers prefetch
//! a thousand jobs together, and need 40 s). Needs a RabbitMQ on the default port of this machine
//! and a `redis-server` program.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a measurement prints, and may break off"
)]

mod harness;

use harness::{Asking, BenchFleet, BenchSimulator, Enforced, Mark, MarkTable, Screenshots};

const AT_ONCE_EACH: &str = "16";
const REQUESTS: Enforced = Enforced::Requests(6_000);
const TOKENS: Enforced = Enforced::Tokens(12_000_000);
/// Number of requests that exhaust the limits in a second; for tokens an estimate, for each
/// counting rule of a provider.
const REQUESTS_A_SECOND: usize = 100;
const REQUESTS_BY_TOKENS_A_SECOND: [(&str, usize); 3] = [("sum", 41), ("max", 66), ("input", 111)];
/// An output limit above the input of a request, so that each rule gives another count.
const SETTINGS: &str = "[judge]\nmax_output_tokens = 3000\n";

fn main() {
    let Some([seconds, workers]) = harness::sizes([15, 4]) else { return };
    if !BenchFleet::has_servers() {
        return;
    }
    let table =
        MarkTable::new(&format!("use of enforced limits by {workers} workers, 200 ms, after 3 s"));
    let by_tokens = REQUESTS_BY_TOKENS_A_SECOND.map(|(rule, rate)| (TOKENS, rule, rate));
    for (limit, rule, rate) in [(REQUESTS, "sum", REQUESTS_A_SECOND)].into_iter().chain(by_tokens) {
        let requests = rate * seconds;
        for known in ["learned", "given"] {
            let (asking, redis) = run(requests, limit, rule, known == "given", workers);
            limit.print(&table, &format!("{known}, counted by {rule}"), &asking, requests);
            let each = redis * 1_000.0 / requests as f64;
            table.marked("  processor time of Redis, a judgment", each, "ms", Mark::AtMost(1.0));
        }
    }
}

/// Calls received by the simulator, and processor time of Redis in seconds.
fn run(count: usize, limit: Enforced, rule: &str, given: bool, workers: usize) -> (Asking, f64) {
    let folder = tempfile::tempdir().unwrap();
    let screenshots = Screenshots { count, width: 640, height: 480, bytes: 1_500 };
    harness::write_screenshots(folder.path(), screenshots);
    std::fs::write(folder.path().join("juror.toml"), SETTINGS).unwrap();
    let [flag, value] = limit.flags();
    let simulator = BenchSimulator::start(&["--latency-ms", "200", "--count", rule, &flag, &value]);
    let mut flags = vec!["-j", AT_ONCE_EACH];
    if given {
        flags.extend([flag.as_str(), &value]);
    }
    let fleet = BenchFleet::start(folder.path(), &simulator, workers, &flags);
    let before = fleet.redis_cpu_seconds();
    let (_, asking) = simulator.watch(|| fleet.judge());
    let redis = fleet.redis_cpu_seconds() - before;
    fleet.stop();
    (asking, redis)
}
