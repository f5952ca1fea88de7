//! Coverage of the intervals of runs that end once their interval is narrow enough: plain 95 %
//! intervals and those of such runs.
//!
//! `cargo bench --bench until_width -- RUNS` (10,000). Needs no process: it samples items with a
//! known true mean and evaluates them in the sequence of `juror run --until-width`.
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
    metrics::{Interval, LOOKS_CONFIDENCE, Sample},
    sequential_sampling::{INITIAL_SAMPLE, next_sample_size},
};
use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng};

/// Items of the dataset; a run that reaches its end has judged them all.
const ITEMS: u64 = 2_000;
/// Requested widths.
const WIDTHS: [f64; 3] = [0.03, 0.06, 0.12];

/// Distribution of scores, from 0 to 1.
struct Scores {
    name: &'static str,
    mean: f64,
    draw: fn(&mut SmallRng) -> f64,
}

const SCORES: [Scores; 6] = [
    Scores { name: "one in 50 at 0", mean: 0.98, draw: |random| fallen(random, 0.02, 0.0) },
    Scores {
        name: "one in 12 at 0",
        mean: 11.0 / 12.0,
        draw: |random| fallen(random, 1.0 / 12.0, 0.0),
    },
    Scores {
        name: "one in 12 at half",
        mean: 23.0 / 24.0,
        draw: |random| fallen(random, 1.0 / 12.0, 0.5),
    },
    Scores { name: "one in 5 a point below", mean: 0.98, draw: |random| fallen(random, 0.2, 0.9) },
    Scores {
        name: "two kinds of items",
        mean: 0.6,
        draw: |random| fallen(random, 0.5, 0.0) * 0.6 + 0.3,
    },
    Scores { name: "means of five scores", mean: 0.75, draw: five_scores },
];

fn main() {
    let Some([runs]) = harness::sizes([10_000]) else { return };
    for (name, confidence, mark) in [
        ("95 %", 0.95, None),
        ("97.5 %, as runs have them", LOOKS_CONFIDENCE, Some(Mark::AtLeast(94.0))),
    ] {
        let mut random = SmallRng::seed_from_u64(31);
        let table = MarkTable::new(&format!(
            "Intervals of {name}: last ones that hold the mean, the worst of {} widths, {runs} runs \
             each",
            WIDTHS.len()
        ));
        for scores in &SCORES {
            let mut items = 0;
            let coverage = |width: &f64| {
                let held = (0..runs).filter(|_| {
                    let (interval, judged) = run(scores, *width, confidence, &mut random);
                    items += judged;
                    interval.low.unwrap() <= scores.mean + 1e-9
                        && scores.mean - 1e-9 <= interval.high.unwrap()
                });
                100.0 * held.count() as f64 / runs as f64
            };
            let worst = WIDTHS.iter().map(coverage).fold(100.0, f64::min);
            match mark {
                Some(mark) => table.marked(scores.name.to_owned(), worst, "%", mark),
                None => table.row(scores.name.to_owned(), worst, "%"),
            }
            let mean = items as f64 / (runs * WIDTHS.len()) as f64;
            table.row(format!("{}, items judged", scores.name), mean, "items");
        }
    }
}

/// The last interval of a run, and its number of items.
fn run(scores: &Scores, width: f64, confidence: f64, random: &mut SmallRng) -> (Interval, u64) {
    let mut sample = Sample::default();
    let (mut judged, mut look) = (0, INITIAL_SAMPLE);
    loop {
        while judged < look {
            sample.add((scores.draw)(random), None);
            judged += 1;
        }
        let estimate = sample.estimate().unwrap().with_confidence(confidence);
        let interval = estimate.bounded_interval(0.0, 1.0);
        if judged == ITEMS || interval.high.unwrap() - interval.low.unwrap() <= width {
            return (interval, judged);
        }
        look = next_sample_size(look).min(ITEMS);
    }
}

/// 1, except for this share of items.
fn fallen(random: &mut SmallRng, share: f64, to: f64) -> f64 {
    if random.random::<f64>() < share { to } else { 1.0 }
}

fn five_scores(random: &mut SmallRng) -> f64 {
    let points: u32 = (0..5).map(|_| random.random_range(5..=10_u32)).sum();
    f64::from(points) / 50.0
}
