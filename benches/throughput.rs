//! Share of the possible throughput, given latency and concurrency, that is reached with small
//! images.
//!
//! `cargo bench --bench throughput -- SECONDS` (10 for each concurrency). The time includes the
//! start of the first round and the end of the last one, about a tenth of a second, hence the long
//! duration.
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

fn main() {
    let Some([seconds]) = harness::sizes([10]) else { return };
    let table = MarkTable::new("share of C / 0.2 s that is used, images of 2 KB, 200 ms latency");
    for at_once in [16, 32, 64, 100, 150, 200] {
        // Complete rounds of calls, so that the last round is full.
        let rounds = seconds * 5;
        let count = at_once * rounds;
        let folder = tempfile::tempdir().unwrap();
        let screenshots = Screenshots { count, width: 160, height: 96, bytes: 1_500 };
        harness::write_screenshots(folder.path(), screenshots);
        let simulator = BenchSimulator::start(&["--latency-ms", "200"]);
        let calls = at_once.to_string();
        let arguments = simulator.run_arguments(&["-j", &calls]);
        let (judged, asking) =
            simulator.watch(|| measure(&mut juror(folder.path(), &arguments), &[0]));
        let measured_seconds = asking.duration().as_secs_f64();
        let share = 100.0 * rounds as f64 * 0.2 / measured_seconds;
        let what = format!(
            "{at_once:>4} at once: {:>4.0} a second, {:.2} ms of CPU each",
            count as f64 / measured_seconds,
            judged.cpu_ms_each(count)
        );
        table.marked(what, share, "%", Mark::AtLeast(95.0));
    }
}
