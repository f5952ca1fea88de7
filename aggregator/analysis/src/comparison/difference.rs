//! The mean of paired differences with its error.

use super::power::detectable;
use crate::{
    likely_clusters::{ClusterEffect, cluster_effect},
    metrics::{Interval, MeanEstimate, Moments, Sample, round_stable},
};
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Spreads below this are rounding errors of sums: scores are shares or points.
const NO_SPREAD: f64 = 1e-9;

/// Paired values of one metric, added one by one in memory proportional to the clusters.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    differences: Sample,
    /// Sample by likely clusters, and true if any pair is in one.
    likely: Sample,
    has_likely: bool,
    /// Moments of the differences, independent of clusters.
    spread: Moments,
    base: Moments,
    head: Moments,
}

/// Difference of one metric over the pairs. Differences are head − base.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Difference {
    /// Paired items with data in both runs.
    pub n: u64,
    /// Number of independent groups: clusters, and single items.
    pub groups: u64,
    /// Mean of the base's values of these pairs.
    pub base: Option<f64>,
    /// Mean of the head's values of these pairs.
    pub head: Option<f64>,
    /// Mean of head − base.
    pub difference: Option<f64>,
    /// Lower end of its 95 % interval; `None` if unknown.
    pub low: Option<f64>,
    /// Upper end of its 95 % interval; `None` if unknown.
    pub high: Option<f64>,
    /// Cohen's d_z: the mean difference over the standard deviation of the items' differences;
    /// `None` if all are equal.
    pub effect_size_dz: Option<f64>,
    /// Two-sided p-value of the hypothesis that there is no difference; `None` if unknown.
    pub p_value: Option<f64>,
    /// The smallest true difference that this many items detect with a power of 80 %.
    pub detectable: Option<f64>,
    /// Deviation of a single item's difference that corresponds to this error with independent
    /// items: the standard error times √n.
    #[serde(skip)]
    pub deviation: Option<f64>,
}

impl Pairs {
    /// Adds an item's values with the number of its cluster, and that of its likely cluster where
    /// none is declared.
    pub fn add(&mut self, base: f64, head: f64, cluster: Option<usize>, likely: Option<usize>) {
        // Rounded, so that 0.9 − 0.88 and 0.52 − 0.5 are one difference.
        let difference = round_stable(head - base);
        self.differences.add(difference, cluster);
        self.likely.add(difference, likely);
        self.has_likely |= likely.is_some();
        self.spread.add(difference);
        self.base.add(base);
        self.head.add(head);
    }

    /// Pairs that were added.
    pub fn count(&self) -> u64 {
        self.base.count as u64
    }

    /// The difference. The interval and p-value are those of the paired t test, clustered by CR2
    /// with Satterthwaite's degrees of freedom (Bell and McCaffrey 2002); `width` is the metric's
    /// range, which no difference exceeds.
    ///
    /// Where every item differs by the same amount, t has no error: no difference at all is certain
    /// from two groups on; any other is decided by the sign test, so that the interval is that
    /// amount from six groups on (p = 2⁻⁵) and unknown below.
    pub fn difference(&self, width: f64) -> Difference {
        self.difference_by(&self.differences, width)
    }

    /// Effect of likely clusters on the interval, if the pairs differ between them.
    pub fn cluster_effect(&self) -> Option<ClusterEffect> {
        let (alone, grouped) = (self.differences.estimate()?, self.likely.estimate()?);
        let effect = self.has_likely.then(|| cluster_effect(&alone, &grouped)).flatten();
        effect.filter(ClusterEffect::is_seen)
    }

    /// [`Self::difference`] with likely clusters taken together.
    pub fn clustered_difference(&self, width: f64) -> Difference {
        self.difference_by(&self.likely, width)
    }

    fn difference_by(&self, sample: &Sample, width: f64) -> Difference {
        let Some(estimate) = sample.estimate() else { return Difference::default() };
        let mut difference = Difference {
            n: estimate.count as u64,
            groups: estimate.groups as u64,
            base: Some(round_stable(self.base.mean)),
            head: Some(round_stable(self.head.mean)),
            difference: Some(round_stable(estimate.mean)),
            ..Difference::default()
        };
        let Some(error) = estimate.standard_error() else { return difference };
        difference.deviation = Some(error * estimate.count.sqrt());
        let spread = self.spread.deviation().filter(|deviation| *deviation > NO_SPREAD);
        difference.effect_size_dz = spread.map(|deviation| round_stable(estimate.mean / deviation));
        if error > NO_SPREAD {
            let Interval { low, high, .. } = estimate.mean_interval(-width, width);
            (difference.low, difference.high) = (low, high);
            difference.p_value = t_test(&estimate, error);
            difference.detectable =
                detectable(error, estimate.degrees_of_freedom).map(round_stable);
            return difference;
        }
        let p_value = alike(&estimate);
        difference.p_value = Some(p_value);
        if estimate.mean.abs() < NO_SPREAD || p_value <= 0.05 {
            (difference.low, difference.high) = (difference.difference, difference.difference);
        }
        difference
    }
}

/// Two-sided.
fn t_test(estimate: &MeanEstimate, error: f64) -> Option<f64> {
    let student = StudentsT::new(0.0, 1.0, estimate.degrees_of_freedom).ok()?;
    Some(2.0 * student.cdf(-(estimate.mean / error).abs()))
}

/// The sign test where all differences are one.
fn alike(estimate: &MeanEstimate) -> f64 {
    if estimate.mean.abs() < NO_SPREAD { 1.0 } else { 2.0_f64.powf(1.0 - estimate.groups).min(1.0) }
}
