//! Used share of enforced limits, and number of the provider's refusals.
//!
//! `cargo bench --bench limits -- SECONDS` (15 for each limit).
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

use harness::{Asking, BenchSimulator, Enforced, MarkTable, Screenshots, juror, measure};

const REQUESTS: Enforced = Enforced::Requests(6_000);
const TOKENS: Enforced = Enforced::Tokens(12_000_000);
/// Number of requests that exhaust the limits in a second; for tokens an estimate, for each
/// counting rule of a provider.
const REQUESTS_A_SECOND: usize = 100;
const REQUESTS_BY_TOKENS_A_SECOND: [(&str, usize); 3] = [("sum", 41), ("max", 66), ("input", 111)];
/// An output limit above the input of a request, so that each rule gives another count.
const SETTINGS: &str = "[judge]\nmax_output_tokens = 3000\n";

fn main() {
    let Some([seconds]) = harness::sizes([15]) else { return };
    let table = MarkTable::new("use of enforced limits, 200 ms latency, after 3 s");
    let by_tokens = REQUESTS_BY_TOKENS_A_SECOND.map(|(rule, rate)| (TOKENS, rule, rate));
    for (limit, rule, rate) in [(REQUESTS, "sum", REQUESTS_A_SECOND)].into_iter().chain(by_tokens) {
        let requests = rate * seconds;
        for known in ["learned", "given"] {
            let asking = run(requests, limit, rule, known == "given");
            limit.print(&table, &format!("{known}, counted by {rule}"), &asking, requests);
        }
    }
}

fn run(count: usize, limit: Enforced, rule: &str, given: bool) -> Asking {
    let folder = tempfile::tempdir().unwrap();
    let screenshots = Screenshots { count, width: 640, height: 480, bytes: 1_500 };
    harness::write_screenshots(folder.path(), screenshots);
    std::fs::write(folder.path().join("juror.toml"), SETTINGS).unwrap();
    let [flag, value] = limit.flags();
    let simulator = BenchSimulator::start(&["--latency-ms", "200", "--count", rule, &flag, &value]);
    let mut arguments = simulator.run_arguments(&["-j", "64"]);
    if given {
        arguments.extend([flag.as_str(), &value]);
    }
    simulator.watch(|| measure(&mut juror(folder.path(), &arguments), &[0])).1
}
