//! Share of the throughput allowed by latency and concurrency that is reached, with small images.
//!
//! `cargo bench --bench throughput -- SECONDS` (10 for each concurrency). The first round's start
//! and the last one's end are in it, about a tenth of a second, which is why it takes so long.
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
        // Whole rounds of calls, so that none of the time is a last round's.
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
        let asked = asking.duration().as_secs_f64();
        let share = 100.0 * rounds as f64 * 0.2 / asked;
        let what = format!(
            "{at_once:>4} at once: {:>4.0} a second, {:.2} ms of CPU each",
            count as f64 / asked,
            judged.cpu_ms_each(count)
        );
        table.marked(what, share, "%", Mark::AtLeast(95.0));
    }
}
