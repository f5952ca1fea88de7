//! Gates: bounds that a run must meet. Pure.

mod api_streak;
mod changes;
mod decline;
mod file;
mod rule_line;

pub use api_streak::ApiStreak;
pub use changes::{ChangeList, ChangeRule};
pub use decline::DeclineRule;
pub use file::GateError;

use crate::{
    comparison::Comparison,
    history::{DeclineReport, RunSeries},
    metrics::{Interval, Metric, Unit, metric_at, needs_evidence},
    run_facts::Coverage,
};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Minimum share of the rendered code that must be measured for a bound of a measured metric, in a
/// gate without a minimum coverage.
const MIN_MEASURED: f64 = 0.95;

/// Bounds that a run must meet.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// `targets`, `production`, or the path of a file.
    pub name: String,
    /// Minimum share of the planned jobs that must be scored.
    pub min_coverage: f64,
    /// Required number of consecutive jobs without a `failed(api)`.
    pub consecutive_without_api_failure: Option<u64>,
    /// Bounds of metrics.
    pub rules: Vec<Rule>,
    /// Metrics that must not decline from an anchor of earlier runs.
    pub declines: Vec<DeclineRule>,
    /// Maximum numbers of entries of lists of changes since a baseline.
    pub changes: Vec<ChangeRule>,
}

/// A bound of one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The metric's path in `overall`.
    pub metric: String,
    /// Bound that the metric must meet.
    pub bound: Bound,
    /// True if the whole 95 % interval must meet the bound, not only the figure.
    pub sure: bool,
    /// Minimum number of items or jobs that have the figure.
    pub min_n: Option<u64>,
}

/// Jobs of a run with measured evidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeasuredCoverage {
    /// Jobs whose code was measured, or cannot be rendered.
    pub measured: u64,
    /// All jobs; none in a run without evidence.
    pub planned: u64,
}

/// Bound of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// More than this.
    Above(f64),
    /// This or more.
    AtLeast(f64),
    /// This or less.
    AtMost(f64),
}

/// Position of a figure's 95 % interval relative to the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntervalPosition {
    /// Every value of the interval meets the bound.
    Above,
    /// The interval includes the bound: the data do not decide.
    Spans,
    /// The whole interval misses the bound.
    Below,
}

juror_types::serde_enum! {
    /// Decision on a bound, or on a gate.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    pub enum GateDecision {
        /// The bound is met.
        Met = "met",
        /// The data do not decide.
        Undecided = "undecided",
        /// The bound is missed.
        Missed = "missed",
    }
}

/// Result of a gate for a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateReport {
    /// The gate's name.
    pub gate: String,
    /// Missed if any bound is; else undecided if any bound is; else met.
    pub decision: GateDecision,
    /// All bounds with their results.
    pub rules: Vec<RuleReport>,
}

/// Result of one bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuleReport {
    /// The metric's path, that of a [`ChangeList`], `coverage.scored`, `coverage.measured` or
    /// `consecutive_without_api_failure`.
    pub metric: String,
    /// Figure; `None` without data.
    pub value: Option<f64>,
    /// Bound; absent for a rule on declines.
    #[serde(flatten)]
    pub bound: Option<Bound>,
    /// Number of items or jobs.
    pub n: u64,
    /// Minimum of that number; absent for a rule that states none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_n: Option<u64>,
    /// 95 % interval of the figure; absent for counts of jobs and without data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// Position of that interval relative to the bound; absent without one of the two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_position: Option<IntervalPosition>,
    /// True if the rule requires the whole interval to meet the bound.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sure: bool,
    /// Anchor and CUSUM of a rule on declines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decline: Option<DeclineReport>,
    /// Decision over all rules.
    pub decision: GateDecision,
}

impl Bound {
    fn holds(self, value: f64) -> bool {
        match self {
            Self::Above(bound) => value > bound,
            Self::AtLeast(bound) => value >= bound,
            Self::AtMost(bound) => value <= bound,
        }
    }

    /// The figure of the bound.
    pub fn figure(self) -> f64 {
        let (Self::Above(bound) | Self::AtLeast(bound) | Self::AtMost(bound)) = self;
        bound
    }

    fn position_of(self, interval: &Interval) -> Option<IntervalPosition> {
        let (low, high) = interval.low.zip(interval.high)?;
        Some(match (self.holds(low), self.holds(high)) {
            (true, true) => IntervalPosition::Above,
            (false, false) => IntervalPosition::Below,
            _ => IntervalPosition::Spans,
        })
    }
}

impl Gate {
    /// Evaluates a run. A rule whose metric has no data is missed; a gate whose coverage is too low
    /// is missed regardless of the scores. `earlier` are the earlier comparable runs, newest first.
    pub fn evaluate(
        &self,
        metrics: &[Metric],
        coverage: &Coverage,
        measured: MeasuredCoverage,
        streak: ApiStreak,
        series: RunSeries<'_>,
    ) -> GateReport {
        let mut rules: Vec<RuleReport> =
            self.rules.iter().map(|rule| rule.evaluate(metrics, series)).collect();
        rules.extend(self.declines.iter().flat_map(|rule| {
            let is_measured = measured.planned > 0;
            rule.evaluate(metrics, is_measured, series)
        }));
        if self.min_coverage > 0.0 {
            let share = share_of(coverage.scored, coverage.planned);
            rules.push(coverage_report(
                "coverage.scored",
                share,
                self.min_coverage,
                coverage.planned,
            ));
        }
        rules.extend(self.measured_coverage(metrics, measured));
        if let Some(wanted) = self.consecutive_without_api_failure {
            rules.push(streak.evaluate(wanted));
        }
        rules.extend(self.changes.iter().map(|rule| rule.evaluate(None)));
        GateReport { gate: self.name.clone(), decision: decision_of(&rules), rules }
    }

    /// Result of the coverage of measured metrics; `None` if no bound is on them, or nothing that
    /// was to be measured is missing.
    fn measured_coverage(
        &self,
        metrics: &[Metric],
        coverage: MeasuredCoverage,
    ) -> Option<RuleReport> {
        let is_measured = |path: &str| needs_evidence(path) && metric_at(metrics, path).is_some();
        let mut bounded = self.rules.iter().map(|rule| rule.metric.as_str());
        // A rule on every metric is on the measured ones too.
        let mut watched = self.declines.iter().map(|rule| rule.metric.as_deref());
        let is_asked = bounded.any(is_measured) || watched.any(|path| path.is_none_or(is_measured));
        let MeasuredCoverage { measured, planned } = coverage;
        if measured >= planned || !is_asked {
            return None;
        }
        let share = share_of(measured, planned);
        let least = if self.min_coverage > 0.0 { self.min_coverage } else { MIN_MEASURED };
        Some(coverage_report("coverage.measured", share, least, planned))
    }

    /// Decides the rules on changes since a baseline, which are undecided before.
    pub fn decide_changes(&self, report: &mut GateReport, comparison: &Comparison) {
        report.rules.retain(|rule| ChangeList::from_path(&rule.metric).is_none());
        report.rules.extend(self.changes.iter().map(|rule| rule.evaluate(Some(comparison))));
        report.decision = decision_of(&report.rules);
    }

    /// Sets the blessed run of this runs directory as the start of anchors, unless the gate file
    /// names another.
    pub fn anchored_at_blessed(mut self, runs_dir: &Path) -> Self {
        for rule in &mut self.declines {
            rule.watch = std::mem::take(&mut rule.watch).anchored_at_blessed(runs_dir);
        }
        self
    }

    /// True if it needs earlier comparable runs.
    pub fn watches_declines(&self) -> bool {
        !self.declines.is_empty()
    }
}

impl Rule {
    fn evaluate(&self, metrics: &[Metric], series: RunSeries<'_>) -> RuleReport {
        let metric = metric_at(metrics, &self.metric);
        let value = metric.and_then(|metric| metric.value);
        let interval = metric.filter(|_| value.is_some()).map(|metric| metric.interval);
        let interval_position = interval.and_then(|interval| self.bound.position_of(&interval));
        let n = interval.map_or(0, |interval| interval.n);
        let is_met = match value {
            Some(_) if self.min_n.is_some_and(|least| n < least) => false,
            Some(_) if self.sure => interval_position == Some(IntervalPosition::Above),
            Some(value) => self.bound.holds(value),
            None => false,
        };
        // Calls were not made, so they took no time.
        let is_time = metric.is_some_and(|metric| metric.definition.unit == Unit::Milliseconds);
        let decision = match value {
            None if is_time && series.from_cache => GateDecision::Undecided,
            _ => GateDecision::met_if(is_met),
        };
        RuleReport {
            min_n: self.min_n,
            interval,
            interval_position,
            sure: self.sure,
            ..RuleReport::new(&self.metric, value, n, decision).bounded(self.bound)
        }
    }
}

impl RuleReport {
    /// Result of a rule on a figure over this many items or jobs, without a bound or an interval.
    fn new(metric: &str, value: Option<f64>, n: u64, decision: GateDecision) -> Self {
        Self {
            metric: metric.to_owned(),
            value,
            bound: None,
            n,
            min_n: None,
            interval: None,
            interval_position: None,
            sure: false,
            decline: None,
            decision,
        }
    }

    fn bounded(self, bound: Bound) -> Self {
        Self { bound: Some(bound), ..self }
    }
}

impl GateDecision {
    fn met_if(is_met: bool) -> Self {
        if is_met { Self::Met } else { Self::Missed }
    }
}

fn decision_of(rules: &[RuleReport]) -> GateDecision {
    rules.iter().map(|rule| rule.decision).max().unwrap_or(GateDecision::Met)
}

fn share_of(part: u64, whole: u64) -> f64 {
    crate::metrics::round_stable(part as f64 / whole.max(1) as f64)
}

fn coverage_report(metric: &str, share: f64, least: f64, n: u64) -> RuleReport {
    let bound = Bound::AtLeast(least);
    let decision = GateDecision::met_if(bound.holds(share));
    RuleReport::new(metric, Some(share), n, decision).bounded(bound)
}

#[cfg(test)]
mod tests;
