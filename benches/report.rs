//! Cost of each report format of a large run, including a page with images.
//!
//! `cargo bench --bench report -- ITEMS PICTURES` (100,000 and 1,024). Items share this many
//! screenshots of 1280 x 720 pixels and about 200 KB; a page shows those of its first 1,000 items.
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
use std::{fs, path::Path};

const FORMATS: [&str; 6] = ["html", "md", "junit.xml", "csv", "jsonl", "json"];

fn main() {
    let Some([items, pictures]) = harness::sizes([100_000, 1_024]) else { return };
    let folder = tempfile::tempdir().unwrap();
    let screenshots = Screenshots { count: pictures, width: 1280, height: 720, bytes: 213_000 };
    harness::write_screenshots(folder.path(), screenshots);
    for run in ["base", "large"] {
        write_run(folder.path(), run, items);
    }
    let table = MarkTable::new(&format!("juror report of {items} results, {pictures} pictures"));
    for format in FORMATS {
        let output = format!("report.{format}");
        row(&table, folder.path(), &format!("-o {output}"), &["-o", &output]);
    }
    let pictures = fs::read_to_string(folder.path().join("report.html")).unwrap();
    let shown = pictures.matches("src=\"data:image/").count();
    table.row("pictures in the page", shown as f64, "");
    table.row("size of the page", pictures.len() as f64 / 1e6, "MB");
    row(&table, folder.path(), "--baseline", &["--baseline", "base", "-o", "compared.html"]);
}

fn write_run(folder: &Path, run: &str, items: usize) {
    let simulator = BenchSimulator::start(&[]);
    let url = ["--base-url", &simulator.base_url, "--run-id", run, "--no-cache", "--quiet"];
    let judged = [&["run", "manifest.jsonl", "--enable-llm-judge"], &url[..]].concat();
    measure(&mut juror(folder, &judged), &[0]);
    let manifest = folder.join("large.jsonl");
    enlarge_manifest(&folder.join("manifest.jsonl"), &manifest, items);
    enlarge_run(&folder.join("runs").join(run), &manifest, items);
}

fn row(table: &MarkTable, folder: &Path, name: &str, flags: &[&str]) {
    let arguments = [&["report", "large", "--quiet"], flags].concat();
    let reported = measure(&mut juror(folder, &arguments), &[0]);
    table.marked(format!("{name}: time"), reported.wall.as_secs_f64(), "s", Mark::AtMost(30.0));
    table.row(format!("{name}: CPU"), reported.cpu.as_secs_f64(), "s");
    table.marked(format!("{name}: peak memory"), reported.peak_mb, "MB", Mark::AtMost(200.0));
}
