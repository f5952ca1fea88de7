//! Rules that a metric must not decline over comparable runs.

use super::{GateDecision, RuleReport};
use crate::{
    history::{DeclineReport, DeclineState, DeclineWatch, RunSeries, SeriesPoint},
    metrics::Metric,
};

/// A metric must not decline from a fixed anchor of earlier runs.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclineRule {
    /// The metric's path in `overall`; absent for every metric of quality, which then share the
    /// false-alarm rate.
    pub metric: Option<String>,
    /// Anchor and false-alarm rate.
    pub watch: DeclineWatch,
}

impl DeclineRule {
    /// Evaluates every metric of the rule.
    pub(super) fn evaluate(&self, metrics: &[Metric], series: RunSeries<'_>) -> Vec<RuleReport> {
        let has_data = |metric: &Metric| {
            let path = &metric.definition.path;
            metric.value.is_some()
                || series.earlier.iter().any(|run| run.figures.metrics.contains_key(path))
        };
        let is_meant = |metric: &&Metric| match &self.metric {
            Some(path) => metric.definition.path == *path,
            None => metric.definition.can_decline() && has_data(metric),
        };
        let watched: Vec<&Metric> = metrics.iter().filter(is_meant).collect();
        let judge = |metric: &&Metric| self.judge_one(metric, series, watched.len());
        watched.iter().map(judge).collect()
    }

    fn judge_one(&self, metric: &Metric, series: RunSeries<'_>, watched: usize) -> RuleReport {
        let path = &metric.definition.path;
        let mut points: Vec<SeriesPoint<'_>> = series
            .earlier
            .iter()
            .rev()
            .filter_map(|run| run.figures.point(&run.id, path))
            .collect();
        let newest = metric.newest_point(series.from_cache);
        points.extend(newest);
        let decline = newest.map(|_| self.watch.watch(&metric.definition, &points, watched));
        let decision = decline.as_ref().map_or(GateDecision::Missed, decision_of);
        RuleReport {
            interval: newest.map(|_| metric.interval),
            decline,
            ..RuleReport::new(path, metric.value, metric.interval.n, decision)
        }
    }
}

fn decision_of(report: &DeclineReport) -> GateDecision {
    match report.state {
        DeclineState::Steady => GateDecision::Met,
        DeclineState::Declining => GateDecision::Missed,
        DeclineState::AnchorIncomplete
        | DeclineState::AnchorMissing
        | DeclineState::TooFewItems => GateDecision::Undecided,
    }
}
