//! Control limits of the CUSUM, by simulation.

use crate::random::SplitMix;
use parking_lot::Mutex;
use std::collections::BTreeMap;

/// Number of simulated series. A rate of 5 % is based on a thousand of them, one of 0.5 % on a
/// hundred.
const SERIES: usize = 20_000;

/// Fixed seed, so that the same rule has the same limit everywhere.
const SEED: u64 = 0x6a75_726f_7200_0002;

/// Cache of limits by anchor runs, monitored runs and the bits of the rate: each takes a simulation
/// of about 50 ms.
static KNOWN: Mutex<BTreeMap<(usize, usize, u64), f64>> = Mutex::new(BTreeMap::new());

/// One-sided CUSUM of the distances of runs below the anchor, in standard deviations of the
/// anchor's runs (Page 1954).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cusum(f64);

impl Cusum {
    /// Distance below the anchor that does not add to the sum: half of the shift of one standard
    /// deviation that the sum detects fastest.
    const ALLOWANCE: f64 = 0.5;

    /// Adds a run at this many standard deviations below the anchor; returns the sum.
    pub(super) fn add(&mut self, below: f64) -> f64 {
        self.0 = (self.0 + below - Self::ALLOWANCE).max(0.0);
        self.0
    }
}

/// Limit that the CUSUM of `monitored_runs` exceeds with this probability without any change.
///
/// The anchor's mean and standard deviation are estimates from few runs: the simulation draws them
/// anew for each series, so that their error is part of the limit. Runs are independent and normal.
pub(super) fn control_limit(anchor_runs: usize, monitored_runs: usize, rate: f64) -> f64 {
    let key = (anchor_runs, monitored_runs, rate.to_bits());
    let known = KNOWN.lock().get(&key).copied();
    if let Some(limit) = known {
        return limit;
    }
    let mut random = SplitMix(SEED);
    let mut highest: Vec<f64> =
        (0..SERIES).map(|_| highest_sum(&mut random, anchor_runs, monitored_runs)).collect();
    highest.sort_unstable_by(f64::total_cmp);
    // The simulated rate has an error; the limit is that of its lower bound at 95 %, so that the
    // true rate is at most the requested one.
    let error = 1.645 * (rate * (1.0 - rate) / SERIES as f64).sqrt();
    let place = ((1.0 - rate + error) * SERIES as f64).ceil() as usize;
    let limit = highest.get(place.min(SERIES - 1)).copied().unwrap_or(f64::INFINITY);
    KNOWN.lock().insert(key, limit);
    limit
}

fn highest_sum(random: &mut SplitMix, anchor_runs: usize, monitored_runs: usize) -> f64 {
    let mut spare = None;
    let mut normal = || {
        spare.take().unwrap_or_else(|| {
            let (one, other) = random.normal_pair();
            spare = Some(other);
            one
        })
    };
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in 0..anchor_runs {
        let value = normal();
        sum += value;
        squares += value * value;
    }
    let count = anchor_runs as f64;
    let mean = sum / count;
    let deviation = ((squares - count * mean * mean) / (count - 1.0)).sqrt();
    let mut cusum = Cusum::default();
    (0..monitored_runs).map(|_| cusum.add((mean - normal()) / deviation)).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quantiles of an independent simulation in Python with NumPy, of 20,000 series each.
    #[test]
    fn control_limits_match_an_independent_simulation() {
        for (anchor_runs, rate, expected) in
            [(5, 0.05, 34.2), (10, 0.05, 14.78), (20, 0.05, 8.63), (20, 0.05 / 11.0, 20.39)]
        {
            let limit = control_limit(anchor_runs, 60, rate);
            assert!((limit / expected - 1.0).abs() < 0.1, "{anchor_runs}, {rate}: {limit}");
            assert!(limit.to_bits() == control_limit(anchor_runs, 60, rate).to_bits());
        }
    }
}
