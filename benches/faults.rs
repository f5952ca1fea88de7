//! Lost results and double billing with a fifth of faulty responses.
//!
//! `cargo bench --bench faults -- ITEMS` (1,000).
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

use harness::{BenchSimulator, Mark, MarkTable, Screenshots, juror, measure};

/// A fifth in total: refusals, outages, broken connections and unusable replies.
const FAULTS: [&str; 10] = [
    "rate-limit=0.02",
    "server-error=0.03",
    "unavailable=0.03",
    "reset=0.02",
    "cut=0.01",
    "truncated=0.02",
    "fenced=0.02",
    "out-of-range=0.02",
    "missing-keys=0.02",
    "empty=0.01",
];

fn main() {
    let Some([count]) = harness::sizes([1_000]) else { return };
    let folder = tempfile::tempdir().unwrap();
    let screenshots = Screenshots { count, width: 640, height: 480, bytes: 20_000 };
    harness::write_screenshots(folder.path(), screenshots);
    let mut flags = vec!["--latency-ms", "200"];
    flags.extend(FAULTS.iter().flat_map(|fault| ["--fault", fault]));
    let simulator = BenchSimulator::start(&flags);
    let arguments = simulator.run_arguments(&["--json", "-j", "64"]);
    let judged = measure(&mut juror(folder.path(), &arguments), &[0, 3]);
    let stats = simulator.stats();
    let report: serde_json::Value = serde_json::from_str(&judged.stdout).unwrap();

    let table = MarkTable::new(&format!(
        "{count} items, a fifth of the answers faulty, 64 at once, 200 ms"
    ));
    let of = |value: &serde_json::Value| value.as_u64().unwrap_or(0) as f64;
    let coverage = |name: &str| of(&report["coverage"][name]);
    let ended = ["scored", "no_output", "unscorable", "failed", "skipped"]
        .map(coverage)
        .iter()
        .sum::<f64>();
    table.marked("items without an outcome", count as f64 - ended, "", Mark::AtMost(0.0));
    table.row("items unscorable after three bad answers", coverage("unscorable"), "");
    let paid = of(&stats["billed_calls"]) / count as f64;
    table.marked("paid calls per item", paid, "", Mark::AtMost(1.25));
    table.row("requests per item", of(&stats["requests"]) / count as f64, "");
    table.row("judgments a second, from start to exit", judged.rate(count), "/s");
    println!("faults played: {}", stats["faults"]);
}
