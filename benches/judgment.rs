//! Cost of one judgment: processor time, memory, and throughput per second.
//!
//! `cargo bench --bench judgment -- SCREENSHOTS SHRUNK` (2,000 of about 213 KB that are sent
//! unchanged, and 400 of 1080p that are resized to 1,280 pixels).
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

use harness::{BenchSimulator, Mark, MarkTable, Measured, Screenshots, bare_loop, juror, measure};
use std::path::Path;

const AT_ONCE: usize = 64;
const LATENCY_SECONDS: f64 = 0.2;
const BYTES: usize = 213_000;

fn main() {
    let Some([count, shrunk]) = harness::sizes([2_000, 400]) else { return };
    let simulator = BenchSimulator::start(&["--latency-ms", "200"]);
    as_they_are(&simulator, count);
    drop(simulator);
    let simulator = BenchSimulator::start(&["--latency-ms", "200"]);
    to_be_shrunk(&simulator, shrunk);
}

fn as_they_are(simulator: &BenchSimulator, count: usize) {
    let folder = tempfile::tempdir().unwrap();
    let screenshots = Screenshots { count, width: 1_280, height: 800, bytes: BYTES };
    harness::write_screenshots(folder.path(), screenshots);
    let table = MarkTable::new(&format!(
        "{count} screenshots of 213 KB as they are, {AT_ONCE} at once, 200 ms"
    ));
    let (judged, asking) = simulator.watch(|| judge(simulator, folder.path(), &[]));
    let bare = bare_loop(&simulator.base_url, &folder.path().join("shots"), AT_ONCE);

    let each = judged.cpu_ms_each(count);
    table.marked("CPU per judgment", each, "ms", Mark::AtMost(1.0));
    table.row("  the bare loop", bare.cpu_ms_each(count), "ms");
    table.row("  ratio", each / bare.cpu_ms_each(count), "x");
    table.marked("peak memory", judged.peak_mb, "MB", Mark::AtMost(100.0));
    table.row("  the bare loop", bare.peak_mb, "MB");
    let rounds = count.div_ceil(AT_ONCE) as f64;
    let ideal = count as f64 / (rounds * LATENCY_SECONDS);
    let rate = count as f64 / asking.duration().as_secs_f64();
    table.row("judgments a second, from first question to last answer", rate, "/s");
    table.marked(
        "  share of what the latency allows",
        100.0 * rate / ideal,
        "%",
        Mark::AtLeast(95.0),
    );
    table.row("judgments a second, from start to exit", judged.rate(count), "/s");
    table.row("  the bare loop", bare.rate(count), "/s");
}

fn to_be_shrunk(simulator: &BenchSimulator, count: usize) {
    let folder = tempfile::tempdir().unwrap();
    let screenshots = Screenshots { count, width: 1_920, height: 1_080, bytes: BYTES };
    harness::write_screenshots(folder.path(), screenshots);
    let table = MarkTable::new(&format!(
        "{count} screenshots of 1920 x 1080 shrunk to 1280 x 720, {AT_ONCE} at once"
    ));
    let judged = judge(simulator, folder.path(), &[("JUROR_IMAGE_MAX_SIDE", "1280")]);
    table.marked("CPU per judgment", judged.cpu_ms_each(count), "ms", Mark::AtMost(25.0));
    table.row("peak memory", judged.peak_mb, "MB");
    table.row("judgments a second, from start to exit", judged.rate(count), "/s");
}

fn judge(simulator: &BenchSimulator, folder: &Path, settings: &[(&str, &str)]) -> Measured {
    let at_once = AT_ONCE.to_string();
    let arguments = simulator.run_arguments(&["-j", &at_once]);
    measure(juror(folder, &arguments).envs(settings.iter().copied()), &[0])
}
