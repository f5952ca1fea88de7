//! 95 % intervals: for bounded means, Student's t with an unseen item at an end of the scale; for
//! rates, Clopper and Pearson's; both clustered where items are not independent.

use serde::{Deserialize, Serialize};
use statrs::distribution::{Beta, ContinuousCDF, StudentsT};

/// Number of deviating groups at which the unseen item at an end of the scale has half an item's
/// weight. `benches/intervals.rs` simulates the resulting coverage.
const HALF_WEIGHT_AT: f64 = 4.0;

/// Default confidence of intervals.
pub(super) const CONFIDENCE: f64 = 0.95;

/// Confidence of the intervals of a run that ends by its interval's width, so that the last one
/// covers the true value in 95 % of such runs. Such a run ends too often where chance has narrowed
/// its interval: 95 % intervals would cover it in 92 %, as `benches/until_width.rs` simulates.
pub const LOOKS_CONFIDENCE: f64 = 0.975;

/// 95 % interval of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Number of items.
    pub n: u64,
    /// Lower end; `None` if unknown.
    pub low: Option<f64>,
    /// Upper end; `None` if unknown.
    pub high: Option<f64>,
}

/// A mean with its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanEstimate {
    /// Number of items.
    pub(crate) count: f64,
    /// Number of independent groups: clusters, and single items.
    pub(crate) groups: f64,
    pub(crate) mean: f64,
    /// Variance of the mean; `None` with fewer than two groups.
    pub(super) variance: Option<f64>,
    pub(crate) degrees_of_freedom: f64,
    /// Effective number of groups that contribute to the squared deviations (Kish): 0 where all
    /// items are alike, about a third for normal data.
    pub(super) deviating: f64,
    /// Confidence of its intervals.
    pub(super) confidence: f64,
}

impl MeanEstimate {
    /// The estimate with intervals of this confidence.
    pub fn with_confidence(self, confidence: f64) -> Self {
        Self { confidence, ..self }
    }

    /// Standard error of the mean; `None` with fewer than two groups.
    pub(crate) fn standard_error(&self) -> Option<f64> {
        self.variance.map(f64::sqrt)
    }

    /// The mean ± Student's t, clamped to the metric's range: for values without natural ends, and
    /// for differences, where no difference at all is information.
    pub(crate) fn mean_interval(&self, least: f64, most: f64) -> Interval {
        let half = self
            .variance
            .and_then(|variance| Some(self.t_quantile(self.degrees_of_freedom)? * variance.sqrt()));
        let bounded = |value: f64| round_stable(value.clamp(least, most));
        Interval {
            n: self.count as u64,
            low: half.map(|half| bounded(self.mean - half)),
            high: half.map(|half| bounded(self.mean + half)),
        }
    }

    /// Interval of a mean of bounded values: the wider, at each side, of Student's t and of
    /// Student's t with one further, unseen item at that end of the scale.
    ///
    /// With few deviating items the sample contains little information on items that were not
    /// drawn: ten items of 100 % do not exclude that one in five is 0 %. The unseen item therefore
    /// has the weight w = 16 / (16 + k²), with k the number of deviating groups: one item where all
    /// are alike, next to nothing where forty differ. With G groups, their sum of squares S and the
    /// end e, the mean is (G·m + w·e) / (G + w), its squared error (S + w·G/(G + w)·(m − e)²) / ((G
    /// − 1 + w)(G + w)), and t has G degrees of freedom.
    pub fn bounded_interval(&self, least: f64, most: f64) -> Interval {
        let plain = self.mean_interval(least, most);
        let (Some(variance), Some(quantile)) = (self.variance, self.t_quantile(self.groups)) else {
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
        let bounded = |value: f64| round_stable(value.clamp(least, most));
        Interval {
            n: plain.n,
            low: plain.low.map(|low| low.min(bounded(low_mean - low_half))),
            high: plain.high.map(|high| high.max(bounded(high_mean + high_half))),
        }
    }

    /// Clopper and Pearson's exact interval. Where items are clustered or judged several times,
    /// with the number of independent items of the same variance, reduced for the uncertainty of
    /// that variance by the factor (t(n − 1) / t(degrees of freedom))² at 97.5 % (Korn and Graubard
    /// 1998). Where all are alike, with the number of groups.
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
        let tail = (1.0 - self.confidence) / 2.0;
        let (passed, other) = (rate * effective, (1.0 - rate) * effective);
        Interval {
            n: self.count as u64,
            low: Some(beta_quantile(passed, other + 1.0, tail).map_or(0.0, round_stable)),
            high: Some(beta_quantile(passed + 1.0, other, 1.0 - tail).map_or(1.0, round_stable)),
        }
    }

    /// (t(n − 1) / t(degrees of freedom))², each at its upper end; 1 without clusters.
    fn degrees_of_freedom_factor(&self) -> f64 {
        match (self.t_quantile(self.count - 1.0), self.t_quantile(self.degrees_of_freedom)) {
            (Some(items), Some(groups)) => (items / groups).powi(2),
            _ => 1.0,
        }
    }

    /// Student's t at the upper end of an interval: the 97.5 % quantile at 95 %.
    pub(crate) fn t_quantile(&self, degrees_of_freedom: f64) -> Option<f64> {
        let student = StudentsT::new(0.0, 1.0, degrees_of_freedom).ok()?;
        Some(student.inverse_cdf((1.0 + self.confidence) / 2.0))
    }
}

/// Rounds off the error of sums, so that 0.85 equals a bound of 0.85.
pub(crate) fn round_stable(value: f64) -> f64 {
    (value * 1e9).round() / 1e9
}

/// A quantile of the beta distribution; `None` if a parameter is 0, at an end of the scale.
fn beta_quantile(first: f64, second: f64, share: f64) -> Option<f64> {
    Some(Beta::new(first, second).ok()?.inverse_cdf(share))
}

#[cfg(test)]
mod tests {
    use super::{super::Sample, *};

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
    fn intervals_match_scipy_and_statsmodels() {
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
    fn identical_items_have_a_nonzero_interval() {
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
    fn interval_inside_the_scale_is_students_t() {
        let mut sample = Sample::default();
        (0..60).for_each(|item| sample.add(0.7 + 0.1 * f64::from(item % 4), None));
        let estimate = sample.estimate().unwrap();
        let width = |interval: Interval| interval.high.unwrap() - interval.low.unwrap();
        let ratio =
            width(estimate.bounded_interval(0.0, 1.0)) / width(estimate.mean_interval(0.0, 1.0));
        assert!((1.0..1.02).contains(&ratio), "{ratio}");
    }

    #[test]
    fn interval_is_clamped_to_the_range_of_the_metric() {
        let mut sample = Sample::default();
        for value in [1.0, 1.0, 0.7] {
            sample.add(value, None);
        }
        assert_eq!(sample.estimate().unwrap().mean_interval(0.0, 1.0).high, Some(1.0));
    }
}
