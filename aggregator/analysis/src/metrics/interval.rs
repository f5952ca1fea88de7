//! 95 % intervals: for bounded means, Student's t that allows for an unseen item at an end of the
//! scale; for rates, Clopper and Pearson's; both clustered where items are not independent.

use serde::{Deserialize, Serialize};
use statrs::distribution::{Beta, ContinuousCDF, StudentsT};

/// Number of deviating groups at which the unseen item at an end of the scale weighs half an item.
/// `benches/intervals.rs` simulates the coverage that this gives.
const HALF_WEIGHT_AT: f64 = 4.0;

/// Deviations below this are the rounding of sums: values are shares, points or percentages.
const NO_DEVIATION: f64 = 1e-9;

/// 95 % interval of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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
pub struct Sample {
    alone: Moments,
    clusters: Vec<Sums>,
}

/// Count, mean and sums of the powers of deviations (the recurrences of Welford and Pébay).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
    cubes: f64,
    fourths: f64,
}

/// Count and sum.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    pub(crate) count: f64,
    pub(crate) sum: f64,
}

/// A mean and what is known of its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanEstimate {
    /// Items.
    pub(crate) count: f64,
    /// Independent groups of items: clusters, and items that stand alone.
    pub(crate) groups: f64,
    pub(crate) mean: f64,
    /// Variance of the mean; none with fewer than two groups.
    variance: Option<f64>,
    pub(crate) degrees_of_freedom: f64,
    /// Number of groups that the squared deviations from the mean come from (Kish's effective
    /// number): 0 where all items are alike, about a third of normal data.
    deviating: f64,
}

impl Moments {
    pub(crate) fn add(&mut self, value: f64) {
        self.count += 1.0;
        let count = self.count;
        let deviation = value - self.mean;
        let step = deviation / count;
        self.mean += step;
        let square = deviation * (value - self.mean);
        self.fourths += square * step * step * (count * count - 3.0 * count + 3.0)
            + 6.0 * step * step * self.squares
            - 4.0 * step * self.cubes;
        self.cubes += square * step * (count - 2.0) - 3.0 * step * self.squares;
        self.squares += square;
    }

    /// Sum of the fourth powers of the deviations from another center than the mean.
    fn fourths_about(&self, center: f64) -> f64 {
        let shift = self.mean - center;
        let square = shift * shift;
        self.fourths
            + 4.0 * shift * self.cubes
            + 6.0 * square * self.squares
            + self.count * square * square
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
    /// Adds an item's value, and the number of its cluster.
    pub fn add(&mut self, value: f64, cluster: Option<usize>) {
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
    pub fn estimate(&self) -> Option<MeanEstimate> {
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
        let mut plain_squares = alone_squares;
        let mut plain_fourths = self.alone.fourths_about(mean);
        let mut sizes = self.alone.count;
        let mut leverages = self.alone.count * leverage(1.0);
        let mut leverages_squared = self.alone.count * leverage(1.0) * leverage(1.0);
        for cluster in clusters() {
            let residual = cluster.sum - cluster.count * mean;
            squares += residual * residual / (1.0 - cluster.count / count);
            plain_squares += residual * residual;
            plain_fourths += residual.powi(4);
            sizes += cluster.count * cluster.count;
            leverages += leverage(cluster.count);
            leverages_squared += leverage(cluster.count) * leverage(cluster.count);
        }
        let pairs = leverages * leverages - leverages_squared;
        let degrees_of_freedom = count.powi(-2) / (sizes * count.powi(-4) + pairs * count.powi(-6));
        let variance = (groups >= 2.0).then(|| squares / (count * count));
        let deviating = match plain_squares > NO_DEVIATION * NO_DEVIATION * count {
            true => plain_squares * plain_squares / plain_fourths,
            false => 0.0,
        };
        Some(MeanEstimate { count, groups, mean, variance, degrees_of_freedom, deviating })
    }
}

impl MeanEstimate {
    /// Of the mean; none with fewer than two groups.
    pub(crate) fn standard_error(&self) -> Option<f64> {
        self.variance.map(f64::sqrt)
    }

    /// The mean ± Student's t, clamped to the range of the metric: for values without natural ends,
    /// and for differences, where no difference at all is a fact and not a lack of data.
    pub(crate) fn mean_interval(&self, least: f64, most: f64) -> Interval {
        let half = self
            .variance
            .and_then(|variance| Some(t_quantile(self.degrees_of_freedom)? * variance.sqrt()));
        let bounded = |value: f64| tidy(value.clamp(least, most));
        Interval {
            n: self.count as u64,
            low: half.map(|half| bounded(self.mean - half)),
            high: half.map(|half| bounded(self.mean + half)),
        }
    }

    /// 95 % interval of a mean of values that have ends: the wider, at each side, of Student's t and
    /// of Student's t with one further, unseen item at that end of the scale.
    ///
    /// With few items far from the others the sample tells little of those that were not drawn: ten
    /// items of 100 % do not exclude that one in five is 0 %. The unseen item therefore weighs
    /// w = 16 / (16 + k²), with k the number of groups that deviate: one item where all are alike, next
    /// to nothing where forty differ. With G groups, their sum of squares S and the end e, the mean
    /// is (G·m + w·e) / (G + w), its squared error
    /// (S + w·G/(G + w)·(m − e)²) / ((G − 1 + w)(G + w)), and t has G degrees of freedom.
    pub fn bounded_interval(&self, least: f64, most: f64) -> Interval {
        let plain = self.mean_interval(least, most);
        let (Some(variance), Some(quantile)) = (self.variance, t_quantile(self.groups)) else {
            return plain;
        };
        let (groups, mean) = (self.groups, self.mean);
        let weight = 1.0 / (1.0 + (self.deviating / HALF_WEIGHT_AT).powi(2));
        let all = groups + weight;
        let squares = variance * groups * (groups - 1.0);
        let with_unseen = |end: f64| {
            let further = weight * groups / all * (mean - end) * (mean - end);
            let error = ((squares + further) / ((all - 1.0) * all)).sqrt();
            ((groups * mean + weight * end) / all, quantile * error)
        };
        let ((low_mean, low_half), (high_mean, high_half)) =
            (with_unseen(least), with_unseen(most));
        let bounded = |value: f64| tidy(value.clamp(least, most));
        Interval {
            n: plain.n,
            low: plain.low.map(|low| low.min(bounded(low_mean - low_half))),
            high: plain.high.map(|high| high.max(bounded(high_mean + high_half))),
        }
    }

    /// Clopper and Pearson's exact interval. Where items are clustered or judged several times, at
    /// the number of independent items that would have the same variance, reduced by what few
    /// groups know of that variance: times (t(n − 1) / t(degrees of freedom))² at 97.5 % (Korn and
    /// Graubard 1998). Where all agree, so that no variance tells, at the number of groups.
    pub fn rate_interval(&self, repeated: bool) -> Interval {
        let rate = self.mean.clamp(0.0, 1.0);
        let spread = rate * (1.0 - rate);
        let effective = if self.groups == self.count && !repeated {
            self.count
        } else {
            match self.variance {
                Some(variance) if spread > 0.0 && variance > 0.0 => {
                    (spread / variance * self.degrees_of_freedom_factor()).min(self.count)
                }
                _ => self.groups,
            }
        };
        let (passed, other) = (rate * effective, (1.0 - rate) * effective);
        Interval {
            n: self.count as u64,
            low: Some(beta_quantile(passed, other + 1.0, 0.025).map_or(0.0, tidy)),
            high: Some(beta_quantile(passed + 1.0, other, 0.975).map_or(1.0, tidy)),
        }
    }
}

impl MeanEstimate {
    /// (t(n − 1) / t(degrees of freedom))² at 97.5 %; 1 where every item stands alone.
    fn degrees_of_freedom_factor(&self) -> f64 {
        match (t_quantile(self.count - 1.0), t_quantile(self.degrees_of_freedom)) {
            (Some(items), Some(groups)) => (items / groups).powi(2),
            _ => 1.0,
        }
    }
}

/// The 97.5 % quantile of Student's t.
fn t_quantile(degrees_of_freedom: f64) -> Option<f64> {
    let student = StudentsT::new(0.0, 1.0, degrees_of_freedom).ok()?;
    Some(student.inverse_cdf(0.975))
}

/// A quantile of the beta distribution; none where a parameter is 0, at an end of the scale.
fn beta_quantile(first: f64, second: f64, share: f64) -> Option<f64> {
    Some(Beta::new(first, second).ok()?.inverse_cdf(share))
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
        bounds: Option<[f64; 2]>,
    }

    #[test]
    fn intervals_are_those_of_scipy_and_statsmodels() {
        let cases: Vec<Case> =
            serde_json::from_str(include_str!("../../tests-data/intervals.json")).unwrap();
        assert!(cases.len() >= 20);
        for case in cases {
            let mut sample = Sample::default();
            for (position, value) in case.values.iter().enumerate() {
                sample.add(*value, case.clusters.as_ref().map(|clusters| clusters[position]));
            }
            let estimate = sample.estimate().unwrap();
            let near = |left: f64, right: f64| (left - right).abs() < 1e-7;
            assert!(near(estimate.mean, case.mean), "{}: {}", case.name, estimate.mean);
            let interval = match case.bounds {
                _ if case.rate => estimate.rate_interval(false),
                Some([least, most]) => estimate.bounded_interval(least, most),
                None => estimate.mean_interval(f64::MIN, f64::MAX),
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
    fn items_that_are_all_alike_are_no_certainty() {
        let interval_of = |values: &[f64]| {
            let mut sample = Sample::default();
            values.iter().for_each(|value| sample.add(*value, None));
            sample.estimate().unwrap().bounded_interval(0.0, 1.0)
        };
        let perfect = interval_of(&[1.0; 6]);
        assert_eq!(perfect.high, Some(1.0));
        assert!(perfect.low.unwrap() < 0.55, "{perfect:?}");
        let middling = interval_of(&[0.9; 60]);
        assert!((0.84..0.88).contains(&middling.low.unwrap()), "{middling:?}");
        assert!(middling.high.unwrap() > 0.9, "{middling:?}");
        assert_eq!(interval_of(&[0.7]).low, None);
    }

    #[test]
    fn in_the_interior_of_the_scale_the_interval_is_students() {
        let mut sample = Sample::default();
        (0..60).for_each(|item| sample.add(0.7 + 0.1 * f64::from(item % 4), None));
        let estimate = sample.estimate().unwrap();
        let width = |interval: Interval| interval.high.unwrap() - interval.low.unwrap();
        let ratio =
            width(estimate.bounded_interval(0.0, 1.0)) / width(estimate.mean_interval(0.0, 1.0));
        assert!((1.0..1.02).contains(&ratio), "{ratio}");
    }

    #[test]
    fn the_recurrence_of_the_fourth_powers_is_their_sum() {
        let values = [0.2_f64, 0.9, 0.9, 0.4, 1.0];
        let mut moments = Moments::default();
        values.iter().for_each(|value| moments.add(*value));
        for center in [moments.mean(), 0.0, 0.75] {
            let sum: f64 = values.iter().map(|value| (value - center).powi(4)).sum();
            assert!((moments.fourths_about(center) - sum).abs() < 1e-12);
        }
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
