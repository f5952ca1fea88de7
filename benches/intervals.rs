//! Coverage of the 95 % intervals of metrics, especially near the ends of a scale.
//!
//! `cargo bench --bench intervals -- SAMPLES` (20,000). Needs no process: it samples items with a
//! known true mean.
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
use juror_analysis::metrics::{Interval, Sample};
use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng};

/// Shares of deviating items; each row shows the worst coverage among them.
const SHARES: [f64; 8] = [0.01, 0.02, 0.05, 0.08, 0.12, 0.18, 0.25, 0.35];
/// True rates; each row shows the worst coverage among them.
const RATES: [f64; 8] = [0.5, 0.7, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995];

/// Distribution of a deviating item's score, on a scale from 0 to 1.
#[derive(Clone, Copy)]
enum Fall {
    /// To 0.
    Whole,
    /// To 0.5.
    Half,
    /// To 0.9, one point of ten.
    Point,
    /// To any of the lower ten points.
    Uniform,
    /// By one point, and with 7 in 10 by a further one, and so on.
    Geometric,
}

impl Fall {
    const ALL: [(&'static str, Self); 5] = [
        ("fall to 0", Self::Whole),
        ("fall to 5", Self::Half),
        ("fall to 9", Self::Point),
        ("fall anywhere", Self::Uniform),
        ("fall by few points", Self::Geometric),
    ];

    fn score(self, random: &mut SmallRng) -> f64 {
        match self {
            Self::Whole => 0.0,
            Self::Half => 0.5,
            Self::Point => 0.9,
            Self::Uniform => f64::from(random.random_range(0..10_u32)) / 10.0,
            Self::Geometric => {
                let mut points = 1;
                while points < 10 && random.random::<f64>() < 0.7 {
                    points += 1;
                }
                f64::from(10 - points) / 10.0
            }
        }
    }

    fn mean(self) -> f64 {
        match self {
            Self::Whole => 0.0,
            Self::Half => 0.5,
            Self::Point => 0.9,
            Self::Uniform => 0.45,
            // Σ over k = 0..9 of 0.7^k is the mean number of points.
            Self::Geometric => 1.0 - (1.0 - 0.7_f64.powi(10)) / 0.3 / 10.0,
        }
    }
}

fn main() {
    let Some([samples]) = harness::sizes([20_000]) else { return };
    let mut random = SmallRng::seed_from_u64(29);
    near_perfect(samples, &mut random);
    interior(samples, &mut random);
    rates(samples, &mut random);
    clusters(samples / 4, &mut random);
}

fn near_perfect(samples: usize, random: &mut SmallRng) {
    let table = MarkTable::new(&format!(
        "Near-perfect items: intervals that hold the mean, the worst of {} mixtures, {samples} each",
        SHARES.len()
    ));
    for items in [6, 10, 20, 60, 200] {
        for (name, fall) in Fall::ALL {
            let coverage = |share: &f64| {
                let truth = 1.0 - share * (1.0 - fall.mean());
                covered(samples, truth, || {
                    let mut sample = Sample::default();
                    for _ in 0..items {
                        let deviates = random.random::<f64>() < *share;
                        sample.add(if deviates { fall.score(random) } else { 1.0 }, None);
                    }
                    sample.estimate().unwrap().bounded_interval(0.0, 1.0)
                })
            };
            let worst = SHARES.iter().map(coverage).fold(100.0, f64::min);
            table.marked(format!("{items} items, some {name}"), worst, "%", Mark::AtLeast(93.0));
        }
    }
}

fn interior(samples: usize, random: &mut SmallRng) {
    let table =
        MarkTable::new(&format!("Interior of the scale: means of five scores, {samples} each"));
    for items in [10, 20, 60, 200] {
        let mut width = 0.0;
        let coverage = covered(samples, 0.75, || {
            let mut sample = Sample::default();
            let mut plain = Vec::new();
            for _ in 0..items {
                let points: u32 = (0..5).map(|_| random.random_range(5..=10_u32)).sum();
                plain.push(f64::from(points) / 50.0);
                sample.add(f64::from(points) / 50.0, None);
            }
            let interval = sample.estimate().unwrap().bounded_interval(0.0, 1.0);
            width += interval.high.unwrap() - interval.low.unwrap();
            interval
        });
        table.marked(format!("{items} items"), coverage, "%", Mark::AtLeast(94.0));
        table.row(format!("{items} items, mean width"), width / samples as f64 * 100.0, "points");
    }
}

fn rates(samples: usize, random: &mut SmallRng) {
    let table = MarkTable::new(&format!(
        "Rates of independent items, the worst of {} true rates, {samples} each",
        RATES.len()
    ));
    for items in [6, 10, 20, 60, 200] {
        let coverage = |rate: &f64| {
            covered(samples, *rate, || {
                let mut sample = Sample::default();
                for _ in 0..items {
                    let holds = random.random::<f64>() < *rate;
                    sample.add(if holds { 1.0 } else { 0.0 }, None);
                }
                sample.estimate().unwrap().rate_interval(false)
            })
        };
        let worst = RATES.iter().map(coverage).fold(100.0, f64::min);
        table.marked(format!("{items} items"), worst, "%", Mark::AtLeast(93.0));
    }
}

/// Clusters of ten items whose own rates and means deviate around the true ones.
fn clusters(samples: usize, random: &mut SmallRng) {
    let table = MarkTable::new(&format!("Clusters of 10 items, {samples} samples each"));
    for groups in [5, 10, 20, 50] {
        for rate in [0.5, 0.7, 0.9] {
            // Half of the clusters are above the true rate by this amount, half below.
            let deviation = 0.09;
            let coverage = covered(samples, rate, || {
                let mut sample = Sample::default();
                for cluster in 0..groups {
                    let sign = if random.random::<bool>() { 1.0 } else { -1.0 };
                    let own = rate + sign * deviation;
                    (0..10).for_each(|_| {
                        let holds = random.random::<f64>() < own;
                        sample.add(if holds { 1.0 } else { 0.0 }, Some(cluster));
                    });
                }
                sample.estimate().unwrap().rate_interval(false)
            });
            let name = format!("{groups} clusters, a rate of {:.0} %", rate * 100.0);
            table.marked(name, coverage, "%", Mark::AtLeast(93.0));
        }
        let coverage = covered(samples, 0.9 * 0.95 + 0.1 * 0.45, || {
            let mut sample = Sample::default();
            for cluster in 0..groups {
                let own = if random.random::<f64>() < 0.1 { 0.45 } else { 0.95 };
                (0..10).for_each(|_| {
                    sample.add(own + 0.05 * (2.0 * random.random::<f64>() - 1.0), Some(cluster));
                });
            }
            sample.estimate().unwrap().bounded_interval(0.0, 1.0)
        });
        let name = format!("{groups} clusters, one in ten of which falls to half");
        table.marked(name, coverage, "%", Mark::AtLeast(93.0));
    }
}

fn covered(samples: usize, truth: f64, mut interval: impl FnMut() -> Interval) -> f64 {
    let held = (0..samples).filter(|_| {
        let Interval { low, high, .. } = interval();
        low.unwrap() <= truth + 1e-9 && truth - 1e-9 <= high.unwrap()
    });
    100.0 * held.count() as f64 / samples as f64
}
