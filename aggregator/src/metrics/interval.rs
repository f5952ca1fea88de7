//! 95 % intervals: for means, clustered where items are not independent; for rates, Wilson's.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The 97.5 % quantile of the standard normal distribution.
const NORMAL_QUANTILE: f64 = 1.959_963_984_540_054;

/// How sure a metric is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// Items that it is over.
    pub n: u64,
    /// Lower end; none where the data cannot tell.
    pub low: Option<f64>,
    /// Upper end; none where the data cannot tell.
    pub high: Option<f64>,
}

/// The values of one metric, one an item, in as little as intervals need: items that stand alone
/// as moments, items of a cluster as the cluster's count and sum.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample {
    alone: Moments,
    clusters: Vec<Sums>,
}

/// Count, mean and sum of squared deviations (Welford's recurrence).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

/// Count and sum.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    pub(crate) count: f64,
    pub(crate) sum: f64,
}

/// A mean and what is known of its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    /// Items.
    pub(crate) count: f64,
    /// Independent groups of items: clusters, and items that stand alone.
    pub(crate) groups: f64,
    pub(crate) mean: f64,
    /// Variance of the mean; none with fewer than two groups.
    variance: Option<f64>,
    pub(crate) degrees_of_freedom: f64,
}

impl Moments {
    pub(crate) fn add(&mut self, value: f64) {
        self.count += 1.0;
        let deviation = value - self.mean;
        self.mean += deviation / self.count;
        self.squares += deviation * (value - self.mean);
    }

    pub(crate) fn count(&self) -> f64 {
        self.count
    }

    /// 0 without values.
    pub(crate) fn mean(&self) -> f64 {
        self.mean
    }

    /// Sum of squared deviations from the mean.
    pub(crate) fn squares(&self) -> f64 {
        self.squares
    }

    /// The standard deviation of a sample; none with fewer than two values.
    pub(crate) fn deviation(&self) -> Option<f64> {
        (self.count > 1.0).then(|| (self.squares / (self.count - 1.0)).sqrt())
    }
}

impl Sums {
    pub(crate) fn add(&mut self, value: f64) {
        self.count += 1.0;
        self.sum += value;
    }

    pub(crate) fn mean(&self) -> Option<f64> {
        (self.count > 0.0).then(|| self.sum / self.count)
    }
}

impl Sample {
    /// Takes in an item's value.
    pub(crate) fn add(&mut self, value: f64, cluster: Option<usize>) {
        let Some(cluster) = cluster else {
            return self.alone.add(value);
        };
        if self.clusters.len() <= cluster {
            self.clusters.resize(cluster + 1, Sums::default());
        }
        if let Some(sums) = self.clusters.get_mut(cluster) {
            sums.add(value);
        }
    }

    /// The mean and its error by CR2, the bias-reduced cluster-robust variance of Bell and
    /// McCaffrey (2002), with Satterthwaite's degrees of freedom under independence, both for a
    /// model of nothing but a mean. There, with group sizes n, N items and group sums of
    /// residuals e:
    ///
    /// variance = Σ e² / (1 − n/N) / N²,
    /// degrees of freedom = 1/N² / (Σ n²/N⁴ + Σ over pairs of groups of a·b/N⁶), a = n²/(1 − n/N).
    ///
    /// Where every group is one item, these are the textbook's s²/N and N − 1.
    pub(crate) fn estimate(&self) -> Option<Estimate> {
        let clusters = || self.clusters.iter().filter(|sums| sums.count > 0.0);
        let count = self.alone.count + clusters().map(|sums| sums.count).sum::<f64>();
        if count == 0.0 {
            return None;
        }
        let sum = self.alone.count * self.alone.mean + clusters().map(|sums| sums.sum).sum::<f64>();
        let mean = sum / count;
        let groups = self.alone.count + clusters().count() as f64;
        let leverage = |size: f64| size * size / (1.0 - size / count);

        let shift = self.alone.mean - mean;
        let alone_squares = self.alone.squares + self.alone.count * shift * shift;
        let mut squares = alone_squares / (1.0 - 1.0 / count);
        let mut sizes = self.alone.count;
        let mut leverages = self.alone.count * leverage(1.0);
        let mut leverages_squared = self.alone.count * leverage(1.0) * leverage(1.0);
        for cluster in clusters() {
            let residual = cluster.sum - cluster.count * mean;
            squares += residual * residual / (1.0 - cluster.count / count);
            sizes += cluster.count * cluster.count;
            leverages += leverage(cluster.count);
            leverages_squared += leverage(cluster.count) * leverage(cluster.count);
        }
        let pairs = leverages * leverages - leverages_squared;
        let degrees_of_freedom = count.powi(-2) / (sizes * count.powi(-4) + pairs * count.powi(-6));
        let variance = (groups >= 2.0).then(|| squares / (count * count));
        Some(Estimate { count, groups, mean, variance, degrees_of_freedom })
    }
}

impl Estimate {
    /// Of the mean; none with fewer than two groups.
    pub(crate) fn standard_error(&self) -> Option<f64> {
        self.variance.map(f64::sqrt)
    }

    /// The mean ± Student's t, cut at what the metric can be at all.
    pub(crate) fn mean_interval(&self, least: f64, most: f64) -> Interval {
        let half = self.variance.and_then(|variance| {
            let student = StudentsT::new(0.0, 1.0, self.degrees_of_freedom).ok()?;
            Some(student.inverse_cdf(0.975) * variance.sqrt())
        });
        let bounded = |value: f64| tidy(value.clamp(least, most));
        Interval {
            n: self.count as u64,
            low: half.map(|half| bounded(self.mean - half)),
            high: half.map(|half| bounded(self.mean + half)),
        }
    }

    /// Wilson's score interval. Where items are clustered or judged several times, at the number
    /// of independent items that would have the same variance (Korn and Graubard 1998); where all
    /// agree, so that no variance tells, at the number of groups.
    pub(crate) fn rate_interval(&self, repeated: bool) -> Interval {
        let rate = self.mean.clamp(0.0, 1.0);
        let spread = rate * (1.0 - rate);
        let effective = if self.groups == self.count && !repeated {
            self.count
        } else {
            match self.variance {
                Some(variance) if spread > 0.0 && variance > 0.0 => {
                    (spread / variance).min(self.count)
                }
                _ => self.groups,
            }
        };
        let square = NORMAL_QUANTILE * NORMAL_QUANTILE;
        let middle = (rate + square / (2.0 * effective)) / (1.0 + square / effective);
        let half = NORMAL_QUANTILE / (1.0 + square / effective)
            * (spread / effective + square / (4.0 * effective * effective)).sqrt();
        Interval {
            n: self.count as u64,
            low: Some(tidy((middle - half).max(0.0))),
            high: Some(tidy((middle + half).min(1.0))),
        }
    }
}

/// Takes the rounding of sums out of a figure, so that 0.85 is 0.85 where a bound is compared.
pub(crate) fn tidy(value: f64) -> f64 {
    (value * 1e9).round() / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `tests-data/intervals.py` computed them with SciPy and statsmodels.
    #[derive(serde::Deserialize)]
    struct Case {
        name: String,
        values: Vec<f64>,
        clusters: Option<Vec<usize>>,
        rate: bool,
        mean: f64,
        low: f64,
        high: f64,
        degrees_of_freedom: Option<f64>,
    }

    #[test]
    fn intervals_are_those_of_scipy_and_statsmodels() {
        let cases: Vec<Case> =
            serde_json::from_str(include_str!("../../tests-data/intervals.json")).unwrap();
        assert!(cases.len() >= 6);
        for case in cases {
            let mut sample = Sample::default();
            for (position, value) in case.values.iter().enumerate() {
                sample.add(*value, case.clusters.as_ref().map(|clusters| clusters[position]));
            }
            let estimate = sample.estimate().unwrap();
            let near = |left: f64, right: f64| (left - right).abs() < 1e-7;
            assert!(near(estimate.mean, case.mean), "{}: {}", case.name, estimate.mean);
            let interval = if case.rate {
                estimate.rate_interval(false)
            } else {
                estimate.mean_interval(f64::MIN, f64::MAX)
            };
            assert!(near(interval.low.unwrap(), case.low), "{}: {interval:?}", case.name);
            assert!(near(interval.high.unwrap(), case.high), "{}: {interval:?}", case.name);
            if let Some(degrees) = case.degrees_of_freedom {
                assert!(near(estimate.degrees_of_freedom, degrees), "{}: {estimate:?}", case.name);
            }
        }
    }

    #[test]
    fn one_group_has_a_mean_and_no_interval() {
        let mut sample = Sample::default();
        assert!(sample.estimate().is_none());
        sample.add(0.5, None);
        let one = sample.estimate().unwrap();
        assert_eq!(one.mean_interval(0.0, 1.0), Interval { n: 1, low: None, high: None });
        let mut cluster = Sample::default();
        for value in [0.4, 0.6, 0.7] {
            cluster.add(value, Some(0));
        }
        let one = cluster.estimate().unwrap();
        assert_eq!(one.mean_interval(0.0, 1.0), Interval { n: 3, low: None, high: None });
    }

    #[test]
    fn an_interval_stays_within_what_the_metric_can_be() {
        let mut sample = Sample::default();
        for value in [1.0, 1.0, 0.7] {
            sample.add(value, None);
        }
        assert_eq!(sample.estimate().unwrap().mean_interval(0.0, 1.0).high, Some(1.0));
    }
}
