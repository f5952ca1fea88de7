//! Cost of checking a large manifest, and of reporting a large run.
//!
//! `cargo bench --bench planning -- ITEMS` (1,000,000).
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

use harness::{
    BenchSimulator, Mark, MarkTable, Screenshots, enlarge_manifest, enlarge_run, juror, measure,
};
use std::path::Path;

/// Number of screenshots shared by the items: the manifest is measured, not the file system.
const FILES: usize = 100;

fn main() {
    let Some([count]) = harness::sizes([1_000_000]) else { return };
    let folder = tempfile::tempdir().unwrap();
    let screenshots = Screenshots { count: FILES, width: 160, height: 96, bytes: 1_500 };
    harness::write_screenshots(folder.path(), screenshots);
    plan(folder.path(), count);
    report(folder.path(), count);
}

fn plan(folder: &Path, count: usize) {
    let manifest = folder.join("large.jsonl");
    enlarge_manifest(&folder.join("manifest.jsonl"), &manifest, count);
    let table = MarkTable::new(&format!("juror run --dry-run with a manifest of {count} lines"));
    let planned =
        measure(&mut juror(folder, &["run", "large.jsonl", "--dry-run", "--quiet"]), &[0]);
    table.marked("peak memory", planned.peak_mb, "MB", Mark::AtMost(150.0));
    table.row("time", planned.wall.as_secs_f64(), "s");
    table.row("CPU", planned.cpu.as_secs_f64(), "s");
    table.row("lines a second", planned.rate(count), "/s");
}

/// Judges a few items, then writes a large journal of their results.
fn report(folder: &Path, count: usize) {
    let simulator = BenchSimulator::start(&[]);
    let arguments = simulator.run_arguments(&["--run-id", "large"]);
    measure(&mut juror(folder, &arguments), &[0]);
    enlarge_run(&folder.join("runs/large"), &folder.join("large.jsonl"), count);

    let table = MarkTable::new(&format!("juror report over a journal of {count} results"));
    let reported = measure(&mut juror(folder, &["report", "large", "--quiet"]), &[0]);
    table.marked("peak memory", reported.peak_mb, "MB", Mark::AtMost(150.0));
    table.row("time", reported.wall.as_secs_f64(), "s");
    table.row("CPU", reported.cpu.as_secs_f64(), "s");
    table.marked("results a second", reported.rate(count), "/s", Mark::AtLeast(10_000.0));
}
