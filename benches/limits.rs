//! How much of enforced limits is used, and how often the provider has to refuse.
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

mod workbench;

use serde_json::Value;
use std::time::Duration;
use workbench::{Asking, Mark, Screenshots, Simulator, Table, juror, measure};

const RPM: u64 = 6_000;
const TPM: u64 = 12_000_000;
/// Output tokens that a request of the built-in rubric counts with.
const OUTPUT_LIMIT: u64 = 1_000;
/// Tokens that a request of this measurement takes, roughly: only to know how many are needed.
const TOKENS_EACH: u64 = 2_800;
const WARM_UP: Duration = Duration::from_secs(3);

fn main() {
    let Some([seconds]) = workbench::sizes([15]) else { return };
    let table = Table::new("use of enforced limits, 200 ms latency, after 3 s");
    let requests = RPM as usize * seconds / 60;
    let tokens = (TPM / TOKENS_EACH) as usize * seconds / 60;
    let (rpm, tpm) = (RPM.to_string(), TPM.to_string());
    for (name, known) in [("learned", &[] as &[&str]), ("given", &["--rpm", &rpm])] {
        let asking = run(requests, &["--rpm", &rpm], known);
        let (seconds, from, until) = asking.steady(WARM_UP, requests as u64, 300);
        let used = grown(from, until, admitted) / seconds / (RPM as f64 / 60.0);
        table.marked(
            format!("requests per minute, limit {name}"),
            100.0 * used,
            "%",
            Mark::AtLeast(97.0),
        );
        refusals(&table, from, until);
    }
    for (name, known) in [("learned", &[] as &[&str]), ("given", &["--tpm", &tpm])] {
        let asking = run(tokens, &["--tpm", &tpm], known);
        let (seconds, from, until) = asking.steady(WARM_UP, tokens as u64, 300);
        let used = grown(from, until, counted_tokens) / seconds / (TPM as f64 / 60.0);
        table.marked(
            format!("tokens per minute, limit {name}"),
            100.0 * used,
            "%",
            Mark::AtLeast(95.0),
        );
        refusals(&table, from, until);
    }
}

fn run(count: usize, enforced: &[&str], known: &[&str]) -> Asking {
    let folder = tempfile::tempdir().unwrap();
    let screenshots = Screenshots { count, width: 640, height: 480, bytes: 1_500 };
    workbench::write_screenshots(folder.path(), screenshots);
    let simulator = Simulator::start(&[&["--latency-ms", "200"], enforced].concat());
    let arguments = [
        "run",
        "manifest.jsonl",
        "--enable-llm-judge",
        "--quiet",
        "--base-url",
        &simulator.base_url,
        "-j",
        "64",
    ];
    let arguments = [&arguments, known].concat();
    simulator.watch(|| measure(&mut juror(folder.path(), &arguments), &[0])).1
}

fn refusals(table: &Table, from: &Value, until: &Value) {
    let share = grown(from, until, refused) / grown(from, until, |stats| of(stats, "requests"));
    table.marked("  requests that were refused", 100.0 * share, "%", Mark::AtMost(0.1));
    table.row("  in the first seconds", refused(from) as f64, "refused");
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
    of(&stats["usage"], "input_tokens") + OUTPUT_LIMIT * of(stats, "billed_calls")
}
