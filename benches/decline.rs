//! Rate of false alarms of the watch for declines, and the delay of right ones.
//!
//! `cargo bench --bench decline -- SERIES` (2,000). Needs no process: it samples runs of 60 items
//! whose scores deviate around constant true scores.
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

use harness::{Mark, MarkTable};
use juror_analysis::{
    history::{DeclineState, DeclineWatch, SeriesPoint},
    metrics::MetricDefinition,
};
use juror_types::rubric::builtin;
use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng};

const ITEMS: usize = 60;
const NIGHTS: usize = 60;

fn main() {
    let Some([series]) = harness::sizes([2_000]) else { return };
    let semantic = builtin().iter().find(|rubric| rubric.id == "semantic").unwrap();
    let definition = MetricDefinition::decisive(&semantic.parse().unwrap());
    let mut random = SmallRng::seed_from_u64(31);
    let table = MarkTable::new(&format!(
        "{ITEMS} items around 90 %, false-alarm rate 5 % per {NIGHTS} nights, {series} series each"
    ));
    for anchor in [5, 10, 20] {
        for noise in [0.05, 0.1] {
            let mut alarms = |fall: f64, nights: usize| {
                let seen = (0..series).filter(|_| {
                    alarm(&definition, World { anchor, noise, fall, nights }, &mut random)
                });
                100.0 * seen.count() as f64 / series as f64
            };
            let name = format!("anchor of {anchor}, judge's noise {noise}");
            let false_alarms = alarms(0.0, NIGHTS);
            table.marked(format!("{name}: nothing changes"), false_alarms, "%", Mark::AtMost(6.5));
            let slow = alarms(0.0005, 30);
            match (anchor, noise < 0.06) {
                (20, true) => table.marked(
                    format!("{name}: −0.05 points, 30 nights"),
                    slow,
                    "%",
                    Mark::AtLeast(95.0),
                ),
                _ => table.row(format!("{name}: −0.05 points, 30 nights"), slow, "%"),
            }
            table.row(format!("{name}: −0.05 points, 60 nights"), alarms(0.0005, 60), "%");
            table.row(format!("{name}: −0.5 points, 8 nights"), alarms(0.005, 8), "%");
            table.row(format!("{name}: −0.5 points, 24 nights"), alarms(0.005, 24), "%");
        }
    }
}

/// A series of nights.
#[derive(Clone, Copy)]
struct World {
    anchor: usize,
    /// Standard deviation of one item's score from night to night.
    noise: f64,
    /// Loss of every item each night after the anchor.
    fall: f64,
    /// Nights after the anchor.
    nights: usize,
}

/// True if an alarm is raised in any of this many runs after the anchor.
fn alarm(definition: &MetricDefinition, world: World, random: &mut SmallRng) -> bool {
    let World { anchor, noise, fall, nights } = world;
    let watch = DeclineWatch { anchor_runs: anchor, ..DeclineWatch::default() };
    let truths: Vec<f64> = (0..ITEMS).map(|_| 0.8 + 0.2 * random.random::<f64>()).collect();
    let mut points = Vec::new();
    for night in 0..anchor + nights {
        let lost = fall * (night + 1).saturating_sub(anchor) as f64;
        let score = |truth: &f64| {
            // A judge's points are whole, and end at 50.
            ((truth - lost + noise * normal(random)) * 50.0).round().clamp(0.0, 50.0) / 50.0
        };
        let value = truths.iter().map(score).sum::<f64>() / ITEMS as f64;
        points.push(SeriesPoint { run: None, value, n: ITEMS as u64, from_cache: false });
        if watch.watch(definition, &points, 1).state == DeclineState::Declining {
            return true;
        }
    }
    false
}

/// A standard normal number: the sum of twelve uniform ones, which is near enough here.
fn normal(random: &mut SmallRng) -> f64 {
    (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
}
