//! Detection of a metric's decline: runs against a fixed anchor, by a CUSUM with a stated
//! false-alarm rate.

use super::control_limit::{Cusum, control_limit};
use crate::metrics::{Metric, MetricDefinition, Moments, Unit, round_stable};
use juror_journal::blessed::{BlessedRuns, DEFAULT_BASELINE};
use juror_types::id::RunId;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Number of consecutive runs whose mean must reach the anchor's mean to end an alarm.
const RECOVERY_RUNS: usize = 3;

/// Minimum share of the items: runs with fewer are left out, since other items have another mean.
const MIN_SHARE_OF_ITEMS: f64 = 0.95;

/// A fixed anchor, and the rate of alarms of a series without any change.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclineWatch {
    /// Number of anchor runs: the first comparable ones.
    pub anchor_runs: usize,
    /// Number of runs after the anchor to which the rate applies; then the sum restarts.
    pub monitored_runs: usize,
    /// Probability of an alarm in that many runs without any change, over all metrics that are
    /// watched together.
    pub false_alarm_rate: f64,
    /// First run of the anchor; absent for `blessed`.
    pub anchor_from: Option<RunId>,
    /// Blessed run with which the anchor begins if it is comparable; otherwise, and without a
    /// blessed run, the first comparable run.
    pub blessed: Option<RunId>,
}

/// Figure of a metric in one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeriesPoint<'a> {
    /// The run; absent for the current one.
    pub run: Option<&'a RunId>,
    /// Figure of the newest run.
    pub value: f64,
    /// Number of items.
    pub n: u64,
    /// True if all its verdicts came from the cache: it says nothing new of the judge's metrics.
    pub from_cache: bool,
}

/// Decision of a [`DeclineWatch`] on the newest run of a series.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeclineReport {
    /// State of the alarm, if there are enough runs.
    pub state: DeclineState,
    /// Runs of the anchor so far.
    pub anchor_runs: usize,
    /// Required number of runs.
    pub anchor_runs_wanted: usize,
    /// First run of the anchor.
    pub anchor_first: Option<RunId>,
    /// Last run of the anchor.
    pub anchor_last: Option<RunId>,
    /// Mean of the anchor's runs, in the metric's unit.
    pub anchor_mean: Option<f64>,
    /// Standard deviation between runs, in the metric's unit: that of the anchor's runs, or the
    /// minimum that one item can cause.
    pub anchor_deviation: Option<f64>,
    /// Number of runs after the anchor, including the newest.
    pub runs_since: usize,
    /// Sum of the distances of these runs below the anchor, in standard deviations, each minus 0.5.
    pub cusum: Option<f64>,
    /// Limit that raises an alarm when the sum exceeds it.
    pub limit: Option<f64>,
    /// Number of runs since the alarm, including the newest; 0 without one.
    pub alarm_runs: usize,
    /// Number of runs left out, since too few of their items have the metric, or all verdicts came
    /// from the cache.
    pub left_out: usize,
}

/// State of a series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeclineState {
    /// There is no alarm.
    Steady,
    /// An alarm is active.
    Declining,
    /// The anchor has too few runs, or includes the newest one.
    AnchorIncomplete,
    /// The run that should start the anchor is missing among comparable runs.
    #[default]
    AnchorMissing,
    /// The newest run has the metric for too few items.
    TooFewItems,
}

impl Default for DeclineWatch {
    fn default() -> Self {
        Self {
            anchor_runs: 20,
            monitored_runs: 60,
            false_alarm_rate: 0.05,
            anchor_from: None,
            blessed: None,
        }
    }
}

impl MetricDefinition {
    /// True if its decline can be detected: it is better when it is higher.
    pub fn can_decline(&self) -> bool {
        self.unit != Unit::Milliseconds
    }

    /// Minimum noise of the mean of `n` items: one item of a rate, a tenth of the scale of one item
    /// of a mean.
    fn least_noise(&self, n: u64) -> f64 {
        let (least, most) = self.unit.bounds();
        let step = if self.rate { 1.0 } else { 0.1 };
        step * (most - least) / n.max(1) as f64
    }
}

impl Metric {
    /// Figure as the newest point of a series; `from_cache` as in [`SeriesPoint`].
    pub fn newest_point(&self, from_cache: bool) -> Option<SeriesPoint<'static>> {
        Some(SeriesPoint { run: None, value: self.value?, n: self.interval.n, from_cache })
    }
}

impl DeclineWatch {
    /// Sets the anchor to this runs directory's blessed run of the name [`DEFAULT_BASELINE`].
    pub fn anchored_at_blessed(self, runs_dir: &Path) -> Self {
        let blessed = BlessedRuns::new(runs_dir)
            .get(DEFAULT_BASELINE)
            .inspect_err(|error| {
                tracing::warn!("the blessed run is not available as an anchor: {error}")
            })
            .unwrap_or_default();
        Self { blessed: blessed.map(|blessed| blessed.run_id), ..self }
    }

    /// Decides on the newest point of a series, oldest first. `watched_metrics` share the
    /// false-alarm rate (Bonferroni).
    pub fn watch(
        &self,
        definition: &MetricDefinition,
        points: &[SeriesPoint<'_>],
        watched_metrics: usize,
    ) -> DeclineReport {
        let mut report =
            DeclineReport { anchor_runs_wanted: self.anchor_runs, ..DeclineReport::default() };
        let place = |run: &RunId| points.iter().position(|point| point.run == Some(run));
        let start = match &self.anchor_from {
            None => Some(self.blessed.as_ref().and_then(place).unwrap_or(0)),
            Some(first) => place(first),
        };
        let Some(points) = start.and_then(|start| points.get(start..)) else { return report };
        report.state = DeclineState::AnchorIncomplete;
        let most = points.iter().map(|point| point.n).max().unwrap_or(0);
        let is_whole =
            |point: &&SeriesPoint<'_>| point.n as f64 >= MIN_SHARE_OF_ITEMS * most as f64;
        // The same verdicts again would add up one draw of the judge's noise night after night.
        let is_new = |point: &&SeriesPoint<'_>| !(point.from_cache && definition.is_judged());
        let counted: Vec<SeriesPoint<'_>> =
            points.iter().filter(is_whole).filter(is_new).copied().collect();
        report.left_out = points.len() - counted.len();
        let (anchor, since) = counted.split_at(self.anchor_runs.min(counted.len()));
        report.describe_anchor(definition, anchor);
        if points.last().is_some_and(|newest| !is_whole(&newest)) {
            report.state = DeclineState::TooFewItems;
        } else if !since.is_empty() {
            self.monitor(&mut report, since, watched_metrics);
        }
        report
    }

    fn monitor(&self, report: &mut DeclineReport, since: &[SeriesPoint<'_>], watched: usize) {
        let Some((mean, deviation)) = report.anchor_mean.zip(report.anchor_deviation) else {
            return;
        };
        let rate = self.false_alarm_rate / watched.max(1) as f64;
        let limit = control_limit(self.anchor_runs, self.monitored_runs, rate);
        let mut cusum = Cusum::default();
        let mut sum = 0.0;
        for (number, point) in since.iter().enumerate() {
            if number % self.monitored_runs.max(1) == 0 && report.alarm_runs == 0 {
                cusum = Cusum::default();
            }
            sum = cusum.add((mean - point.value) / deviation);
            let last = since.get(..=number).unwrap_or(since);
            if report.alarm_runs > 0 && has_recovered(last, mean) {
                report.alarm_runs = 0;
                cusum = Cusum::default();
                sum = 0.0;
            } else if report.alarm_runs > 0 || sum > limit {
                report.alarm_runs += 1;
            }
        }
        report.runs_since = since.len();
        report.cusum = Some(round_stable(sum));
        report.limit = Some(round_stable(limit));
        report.state = match report.alarm_runs {
            0 => DeclineState::Steady,
            _ => DeclineState::Declining,
        };
    }
}

impl DeclineReport {
    fn describe_anchor(&mut self, definition: &MetricDefinition, anchor: &[SeriesPoint<'_>]) {
        let moments: Moments = anchor.iter().map(|point| point.value).collect();
        let items = anchor.iter().map(|point| point.n).max().unwrap_or(0);
        let least = definition.least_noise(items);
        self.anchor_runs = anchor.len();
        self.anchor_first = anchor.first().and_then(|point| point.run.cloned());
        self.anchor_last = anchor.last().and_then(|point| point.run.cloned());
        self.anchor_mean = (!anchor.is_empty()).then(|| round_stable(moments.mean));
        self.anchor_deviation =
            moments.deviation().map(|deviation| round_stable(deviation.max(least)));
    }
}

fn has_recovered(runs: &[SeriesPoint<'_>], anchor_mean: f64) -> bool {
    let Some(start) = runs.len().checked_sub(RECOVERY_RUNS) else { return false };
    let last = runs.get(start..).unwrap_or_default();
    let mean = last.iter().map(|point| point.value).sum::<f64>() / RECOVERY_RUNS as f64;
    round_stable(mean) >= round_stable(anchor_mean)
}

#[cfg(test)]
mod tests;
