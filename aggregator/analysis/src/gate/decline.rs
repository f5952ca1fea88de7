//! Rules that a metric must not decline over comparable runs.

use super::{GateDecision, RuleReport};
use crate::{
    history::{DeclineReport, DeclineState, DeclineWatch, RunSeries, SeriesPoint},
    metrics::{Metric, metric_at, needs_evidence},
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
    /// Evaluates every metric of the rule. `is_measured` is true of a run with measured evidence,
    /// whose metrics are absent where nothing could be measured.
    pub(super) fn evaluate(
        &self,
        metrics: &[Metric],
        is_measured: bool,
        series: RunSeries<'_>,
    ) -> Vec<RuleReport> {
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
        let mut reports: Vec<RuleReport> = watched.iter().map(judge).collect();
        let absent = self.absent(metrics, is_measured, series);
        reports.extend(absent.map(|path| RuleReport::new(path, None, 0, GateDecision::Missed)));
        reports
    }

    /// Metrics of the rule that the run does not have.
    fn absent<'a>(
        &'a self,
        metrics: &'a [Metric],
        is_measured: bool,
        series: RunSeries<'a>,
    ) -> impl Iterator<Item = &'a str> {
        let named = self.metric.as_deref();
        let newest = series.alike().next().filter(|_| named.is_none() && is_measured);
        let measured = newest.into_iter().flat_map(|run| run.figures.metrics.keys());
        let measured = measured.map(String::as_str).filter(|path| needs_evidence(path));
        let is_absent = |path: &&str| metric_at(metrics, path).is_none();
        named.into_iter().chain(measured).filter(is_absent)
    }

    fn judge_one(&self, metric: &Metric, series: RunSeries<'_>, watched: usize) -> RuleReport {
        let path = &metric.definition.path;
        let earlier = series.alike().rev();
        let mut points: Vec<SeriesPoint<'_>> =
            earlier.filter_map(|run| run.figures.point(&run.record.run_id, path)).collect();
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
