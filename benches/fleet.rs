//! Overhead of a fleet over a local run: the same items by `juror run`, and by `juror enqueue`, one
//! `juror worker` and one `juror aggregate`.
//!
//! `cargo bench --bench fleet -- ITEMS LATENCY_MS` (2,000 and 200). Needs a RabbitMQ on the default
//! port of this machine and a `redis-server` program. Both slow the fleet down where they share its
//! cores, but are not part of its processor time.
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
    BenchFleet, BenchSimulator, MarkTable, Screenshots, cpu_of_children, juror, measure,
};

const AT_ONCE: &str = "64";

fn main() {
    let Some([count, latency]) = harness::sizes([2_000, 200]) else { return };
    if !BenchFleet::has_servers() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let screenshots = Screenshots { count, width: 160, height: 96, bytes: 1_500 };
    harness::write_screenshots(folder.path(), screenshots);
    let latency_ms = latency.to_string();
    let simulator = BenchSimulator::start(&["--latency-ms", &latency_ms]);
    let arguments = simulator.run_arguments(&["-j", AT_ONCE]);
    let local = measure(&mut juror(folder.path(), &arguments), &[0]);

    let before = cpu_of_children();
    let fleet = BenchFleet::start(folder.path(), &simulator, 1, &["-j", AT_ONCE]);
    let judged = fleet.judge();
    let [worker_mb, aggregator_mb] = fleet.peaks_mb();
    fleet.stop();
    let cpu_ms = (cpu_of_children() - before).as_secs_f64() * 1_000.0 / count as f64;

    let table = MarkTable::new(&format!(
        "{count} small items, {AT_ONCE} at once, {latency} ms: by a fleet on this machine, and by juror run"
    ));
    table.row("items a second, fleet, from enqueue to report", judged.rate(count), "/s");
    table.row("items a second, juror run, from start to exit", local.rate(count), "/s");
    table.row("  ratio of wall time", judged.wall.as_secs_f64() / local.wall.as_secs_f64(), "x");
    table.row("CPU per item, fleet (all roles, no servers)", cpu_ms, "ms");
    table.row("CPU per item, juror run", local.cpu_ms_each(count), "ms");
    table.row("  ratio", cpu_ms / local.cpu_ms_each(count), "x");
    table.row("peak memory, worker", worker_mb, "MB");
    table.row("peak memory, aggregator", aggregator_mb, "MB");
}
