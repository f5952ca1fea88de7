//! Table of figures with their targets.

use std::{fmt::Display, fs::OpenOptions, io::Write as _};

/// Environment variable with the Markdown file to which tables are appended too.
const RESULTS: &str = "BENCH_RESULTS";

/// Target of a figure.
#[derive(Clone, Copy, Debug)]
pub enum Mark {
    AtMost(f64),
    AtLeast(f64),
    Between(f64, f64),
}

/// Table that is printed row by row once a figure is known.
pub struct MarkTable;

impl MarkTable {
    pub fn new(title: &str) -> Self {
        println!("\n{title}\n{:<58} {:>12}   {:<14} ", "", "measured", "mark");
        append(&format!("\n## {title}\n\n| What | Measured | Mark | |\n|---|---:|---:|---|"));
        Self
    }

    /// Adds an informative figure.
    pub fn row(&self, what: impl Display, value: f64, unit: &str) {
        println!("{what:<58} {:>12}", figure(value, unit));
        append(&format!("| {what} | {} | | |", figure(value, unit)));
    }

    /// Adds a figure with its target.
    pub fn marked(&self, what: impl Display, value: f64, unit: &str, mark: Mark) {
        let (bound, met) = match mark {
            Mark::AtMost(most) => (format!("≤ {}", figure(most, unit)), value <= most),
            Mark::AtLeast(least) => (format!("≥ {}", figure(least, unit)), value >= least),
            Mark::Between(least, most) => {
                (format!("{least} to {}", figure(most, unit)), (least..=most).contains(&value))
            }
        };
        let verdict = if met { "met" } else { "MISSED" };
        println!("{what:<58} {:>12}   {bound:<14} {verdict}", figure(value, unit));
        append(&format!("| {what} | {} | {bound} | {verdict} |", figure(value, unit)));
    }
}

fn append(line: &str) {
    let Some(path) = std::env::var_os(RESULTS) else { return };
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| writeln!(file, "{line}")).expect("results cannot be written");
}

fn figure(value: f64, unit: &str) -> String {
    let digits = match value.abs() {
        size if size >= 100.0 || value.fract() == 0.0 => 0,
        size if size >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.digits$} {unit}")
}
