//! A year of nightly runs: their costs, booking days, cap violations and disk usage.
//!
//! `cargo bench --bench nightly_runs -- NIGHTS` (365). Each run is the real command with its clock
//! shifted by faketime (`apt-get install faketime`), half an hour after midnight or before it, so
//! that a booking in the wrong time zone shows. A twentieth of the items changes between runs; the
//! daily and monthly caps are too small for the first run and for every full month.
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

use harness::{BenchSimulator, Mark, MarkTable, Measured, Screenshots, juror, measure};
use jiff::civil::{Date, date};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, Stdio},
};

const ZONES: [&str; 2] = ["Europe/Berlin", "America/New_York"];
const FIRST: Date = date(2026, 1, 1);
const ITEMS: usize = 40;
/// Items that change between runs: 5 %.
const CHANGED: usize = 2;
const DAY_CAP: f64 = 0.30;
const MONTH_CAP: f64 = 0.85;
const KEPT_MB: f64 = 3.0;

fn main() {
    let Some([nights]) = harness::sizes([365]) else { return };
    let installed = Command::new("faketime").arg("--version").stdout(Stdio::null()).status();
    assert!(installed.is_ok(), "faketime is missing: apt-get install faketime");
    for zone in ZONES {
        let folder = tempfile::tempdir().unwrap();
        let mut year = Year::new(folder.path(), zone);
        for number in 0..nights {
            year.night(number);
        }
        year.print(nights);
    }
}

/// Nightly runs of one ledger.
struct Year<'folder> {
    folder: &'folder Path,
    zone: &'static str,
    simulator: BenchSimulator,
    items: Vec<Value>,
    /// Bill of each local day, by the simulator.
    bills: BTreeMap<Date, f64>,
    /// Runs that were ended by their budget.
    cut: usize,
    /// Wall-clock seconds of each run.
    seconds: Vec<f64>,
    most_mb: f64,
}

impl<'folder> Year<'folder> {
    fn new(folder: &'folder Path, zone: &'static str) -> Self {
        let screenshots = Screenshots { count: ITEMS, width: 160, height: 96, bytes: 1_500 };
        harness::write_screenshots(folder, screenshots);
        let settings = format!(
            "[budget]\nzone = \"{zone}\"\nday_usd = \"{DAY_CAP}\"\nmonth_usd = \"{MONTH_CAP}\"\n\
             [prune]\nmax_mb = {KEPT_MB}\nkeep_first = 5\nkeep_reply_days = 30\n"
        );
        fs::write(folder.join("juror.toml"), settings).unwrap();
        let manifest = fs::read_to_string(folder.join("manifest.jsonl")).unwrap();
        let items = manifest.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let simulator = BenchSimulator::start(&[]);
        let (bills, seconds) = (BTreeMap::new(), Vec::new());
        Self { folder, zone, simulator, items, bills, cut: 0, seconds, most_mb: 0.0 }
    }

    /// Changes some items, judges all of them, and prunes old runs.
    fn night(&mut self, number: usize) {
        let day = FIRST.checked_add(jiff::Span::new().days(number as i64)).unwrap();
        let time = if number.is_multiple_of(2) { "00:30:00" } else { "23:30:00" };
        let at = format!("{day} {time}");
        for place in (0..CHANGED).map(|place| (number * CHANGED + place) % ITEMS) {
            let code = format!("<section><h2>Version {number} of {place}</h2></section>");
            self.items[place]["generated_code"] = code.into();
            self.items[place]["language"] = "html".into();
        }
        let lines: String = self.items.iter().map(|item| format!("{item}\n")).collect();
        fs::write(self.folder.join("manifest.jsonl"), lines).unwrap();
        let before = self.billed();
        let judged = self.command(
            &at,
            &[
                "run",
                "manifest.jsonl",
                "--enable-llm-judge",
                "--quiet",
                "--run-id",
                "nightly-{date}",
            ],
            &["--base-url", &self.simulator.base_url],
            &[0, 3],
        );
        self.seconds.push(judged.wall.as_secs_f64());
        self.bills.insert(day, self.billed() - before);
        let run = self.folder.join(format!("runs/nightly-{day}/report.json"));
        let report: Value = serde_json::from_slice(&fs::read(run).unwrap()).unwrap();
        let scored = report["coverage"]["scored"].as_u64().unwrap() as usize;
        self.cut += usize::from(scored < ITEMS);
        self.command(&at, &["runs", "prune"], &[], &[0]);
        self.most_mb = self.most_mb.max(megabytes(&self.folder.join("runs")));
    }

    fn print(&self, nights: usize) {
        let last = FIRST.checked_add(jiff::Span::new().days(nights as i64 - 1)).unwrap();
        let at = format!("{last} 23:45:00");
        let reported = self.command(
            &at,
            &["budget", "history", "--json", "--days", "400", "--months", "14"],
            &[],
            &[0],
        );
        let history: Value = serde_json::from_str(&reported.stdout).unwrap();
        let trend = self.command(&at, &["runs", "trend", "--last", "400"], &[], &[0]);
        let (days, months) = (spending(&history["days"]), spending(&history["months"]));
        let booked = |day: Date| days.get(&day.to_string()).copied().unwrap_or(0.0);
        let wrong = self.bills.iter().filter(|(day, bill)| !equal(booked(**day), **bill)).count();
        let first_month = months[&FIRST.to_string()[..7]];
        let kept = fs::read_dir(self.folder.join("runs")).unwrap().count();

        let table = MarkTable::new(&format!("{nights} nights of {ITEMS} items in {}", self.zone));
        table.marked("days booked otherwise than billed", wrong as f64, "", Mark::AtMost(0.0));
        table.marked("dearest day", highest(&days), "$", Mark::AtMost(DAY_CAP));
        table.marked("dearest month", highest(&months), "$", Mark::AtMost(MONTH_CAP));
        if nights >= 31 {
            // Less than the worst case of a call is left.
            table.marked("first month", first_month, "$", Mark::AtLeast(MONTH_CAP - 0.06));
        }
        let bill = self.billed();
        let year = months.values().sum::<f64>();
        let difference = if equal(year, bill) { 0.0 } else { year - bill };
        table.marked("all months, less the bill", difference, "$", Mark::Between(0.0, 0.0));
        table.row("all of it", bill, "$");
        table.row("a night", bill / nights as f64, "$");
        table.row("nights that a cap cut short", self.cut as f64, "");
        table.row("a night, wall clock", median(&self.seconds), "s");
        table.marked("disk at most", self.most_mb, "MB", Mark::AtMost(2.0 * KEPT_MB));
        table.row("files and runs left", kept as f64, "");
        table.row("juror budget history", reported.wall.as_secs_f64(), "s");
        table.row("juror runs trend", trend.wall.as_secs_f64(), "s");
    }

    /// Dollars billed by the simulator.
    fn billed(&self) -> f64 {
        dollars(&self.simulator.stats()["billed_usd"])
    }

    /// Command with its clock at a local time of this zone.
    fn command(&self, at: &str, arguments: &[&str], more: &[&str], exits: &[i32]) -> Measured {
        let command = juror(self.folder, &[arguments, more].concat());
        let mut moved = Command::new("faketime");
        moved.args(["--exclude-monotonic", "-f", &format!("@{at}")]);
        moved.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => moved.env(name, value),
                None => moved.env_remove(name),
            };
        }
        // File times stay unchanged.
        moved.env("TZ", self.zone).env("NO_FAKE_STAT", "1").current_dir(self.folder);
        measure(&mut moved, exits)
    }
}

fn spending(periods: &Value) -> BTreeMap<String, f64> {
    let periods = periods.as_array().unwrap().iter();
    periods
        .map(|period| {
            (period["period"].as_str().unwrap().to_owned(), dollars(&period["spent_usd"]))
        })
        .collect()
}

fn dollars(amount: &Value) -> f64 {
    amount.as_str().unwrap().parse().unwrap()
}

/// Sums of amounts with nine decimal places.
fn equal(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9
}

fn highest(amounts: &BTreeMap<String, f64>) -> f64 {
    amounts.values().copied().fold(0.0, f64::max)
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Bytes below a folder, in megabytes.
fn megabytes(folder: &Path) -> f64 {
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => megabytes(&entry.path()),
        Ok(metadata) => metadata.len() as f64 / 1e6,
        Err(_) => 0.0,
    };
    fs::read_dir(folder).unwrap().filter_map(Result::ok).map(size).sum()
}
