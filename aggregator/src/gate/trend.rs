//! Bounds that earlier runs set.

use super::{Bound, Decision, RuleReport};
use crate::{
    history::{self, PastRun},
    metrics::{Metric, Unit, tidy},
};
use serde::{Deserialize, Serialize};

/// With fewer earlier runs than this (or than the rule asks for) nothing is called worse.
const FEWEST_RUNS: usize = 3;

/// No metric may be worse than the median of the last runs, beyond a margin.
#[derive(Clone, Debug, PartialEq)]
pub struct TrendRule {
    /// The metric's path in `overall`; every metric of quality if none.
    pub metric: Option<String>,
    /// How many earlier runs the median is over, at most.
    pub last: usize,
    /// How far below it a metric may lie, as a share of what the metric can span.
    pub margin: f64,
}

/// What earlier runs came to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EarlierRuns {
    /// Their median; none if no earlier run has the metric.
    pub median: Option<f64>,
    /// How many they are.
    pub runs: usize,
    /// How many the rule would take.
    pub last: usize,
    /// How far below the median the metric may lie, in the metric's unit.
    pub margin: f64,
}

impl TrendRule {
    /// Judges every metric that the rule is about; `earlier` is newest first.
    pub(super) fn judge(&self, metrics: &[Metric], earlier: &[PastRun]) -> Vec<RuleReport> {
        let earlier = earlier.get(..self.last).unwrap_or(earlier);
        let is_meant = |metric: &&Metric| match &self.metric {
            Some(path) => metric.definition.path == *path,
            // A run without the stage has no such metric, and time is no quality.
            None => metric.value.is_some() && metric.definition.unit != Unit::Milliseconds,
        };
        metrics.iter().filter(is_meant).map(|metric| self.judge_one(metric, earlier)).collect()
    }

    fn judge_one(&self, metric: &Metric, earlier: &[PastRun]) -> RuleReport {
        let path = &metric.definition.path;
        let (least, most) = metric.definition.unit.bounds();
        let margin = tidy(self.margin * (most - least));
        let (median, runs) =
            history::median(earlier, path).map_or((None, 0), |(median, runs)| (Some(median), runs));
        let bound = median.map(|median| Bound::AtLeast(tidy(median - margin)));
        let decision = match (metric.value, bound) {
            (Some(value), Some(bound)) if runs >= FEWEST_RUNS.min(self.last) => {
                if bound.holds(value) { Decision::Met } else { Decision::Missed }
            }
            _ => Decision::Undecided,
        };
        RuleReport {
            metric: path.clone(),
            value: metric.value,
            bound,
            n: metric.interval.n,
            earlier: Some(EarlierRuns { median, runs, last: self.last, margin }),
            decision,
        }
    }
}
