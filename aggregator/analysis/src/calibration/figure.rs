//! Figure of a calibration with its interval, or the reason for its absence.

use crate::metrics::{Interval, MeanEstimate, Sample, round_stable};
use serde::{Deserialize, Serialize};

/// The 97.5 % quantile of the standard normal distribution.
const NORMAL_QUANTILE: f64 = 1.959_963_984_540_054;

/// Spreads below this are rounding errors of sums: scores are shares or points.
const NO_SPREAD: f64 = 1e-9;

pub(super) const NO_ITEMS: &str = "no item has both a score and a label";
pub(super) const ALL_ALIKE: &str =
    "it is the same for every item, so there is no spread for an interval";
pub(super) const SAME_RESAMPLED: &str =
    "it is the same in every resample of the items, so there is no spread for an interval";
const EXACT: &str = "the correlation is exact, so there is no spread for an interval";
pub(super) const ONE_GROUP: &str = "one item, or one cluster of items, has no spread";

/// Figure of a calibration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The value, if it can be computed.
    pub value: Option<f64>,
    /// Lower end of its 95 % interval; `None` if unknown.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Reason why the value or its interval is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Figure {
    /// A missing figure with the reason.
    pub(super) fn unknown(reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), ..Self::default() }
    }

    /// A figure without an interval, with the reason.
    pub(super) fn without_interval(value: f64, reason: impl Into<String>) -> Self {
        if !value.is_finite() {
            return Self::unknown(reason);
        }
        Self { value: Some(round_stable(value)), ..Self::unknown(reason) }
    }

    /// A figure with its interval.
    pub(super) fn with_interval(value: f64, low: f64, high: f64) -> Self {
        if ![value, low, high].iter().all(|end| end.is_finite()) {
            return Self::without_interval(value, ALL_ALIKE);
        }
        Self {
            value: Some(round_stable(value)),
            low: Some(round_stable(low)),
            high: Some(round_stable(high)),
            reason: None,
        }
    }

    /// A mean with Student's interval, clustered as a run's metrics are.
    pub(super) fn mean(sample: &Sample, least: f64, most: f64) -> Self {
        Self::from_sample(sample, |estimate| {
            let spread = estimate.standard_error().is_none_or(|error| error > NO_SPREAD);
            spread.then(|| estimate.mean_interval(least, most))
        })
    }

    /// A rate with Clopper and Pearson's interval, clustered as a run's metrics are.
    pub(super) fn rate(sample: &Sample) -> Self {
        Self::from_sample(sample, |estimate| Some(estimate.rate_interval(false)))
    }

    /// Pearson's correlation of `pairs` independent pairs, with an interval by Fisher's z, whose
    /// standard error is 1 / √(n − 3).
    pub(super) fn by_fisher_z(correlation: f64, pairs: usize) -> Self {
        if pairs < 4 {
            return Self::without_interval(correlation, "its interval needs 4 items");
        }
        if correlation.abs() > 1.0 - NO_SPREAD {
            return Self::without_interval(correlation, EXACT);
        }
        let half = NORMAL_QUANTILE / (pairs as f64 - 3.0).sqrt();
        let z = correlation.atanh();
        Self::with_interval(correlation, (z - half).tanh(), (z + half).tanh())
    }

    fn from_sample(sample: &Sample, interval: impl Fn(&MeanEstimate) -> Option<Interval>) -> Self {
        let Some(estimate) = sample.estimate() else { return Self::unknown(NO_ITEMS) };
        match interval(&estimate) {
            None => Self::without_interval(estimate.mean, ALL_ALIKE),
            Some(Interval { low: Some(low), high: Some(high), .. }) => {
                Self::with_interval(estimate.mean, low, high)
            }
            Some(_) => Self::without_interval(estimate.mean, ONE_GROUP),
        }
    }
}
