//! What earlier runs of the same kind came to, by their reports.

mod earlier;
mod read;
#[cfg(test)]
mod tests;

pub use earlier::{earlier_runs, runs_in};
pub use read::{HistoryError, PastRun, open_report};

use crate::metrics::tidy;
use juror_common::{run::RunRecord, usage::Money};
use serde::Serialize;
use std::collections::BTreeMap;

/// What one metric came to in one run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PastMetric {
    /// The metric, in its own unit.
    pub value: f64,
    /// Items that it is over.
    pub n: u64,
    /// Lower end of its 95 % interval; none where the data could not tell.
    pub low: Option<f64>,
    /// Upper end of its 95 % interval; none where the data could not tell.
    pub high: Option<f64>,
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunFigures {
    /// Each metric that had data, by its path in `overall`.
    pub metrics: BTreeMap<String, PastMetric>,
    /// Jobs that were planned.
    pub planned: u64,
    /// Jobs that were scored.
    pub scored: u64,
    /// What the run cost.
    pub cost_usd: Money,
    /// Whether its scores were made up.
    pub simulated: bool,
}

/// Whether two runs ask the same: the same items, by the same rubric and the same judge. How often
/// each item was judged, and what it may cost, make no other question.
pub fn ask_the_same(one: &RunRecord, other: &RunRecord) -> bool {
    let dataset = |run: &RunRecord| {
        let dataset = &run.dataset;
        (dataset.path.clone(), dataset.limit, dataset.filters.clone())
    };
    dataset(one) == dataset(other)
        && one.rubric == other.rubric
        && one.judge == other.judge
        && one.max_side == other.max_side
}

/// The median of a metric over these runs, and over how many of them; none if no run has it.
pub fn median(runs: &[PastRun], metric: &str) -> Option<(f64, usize)> {
    let mut values: Vec<f64> = runs
        .iter()
        .filter_map(|run| run.figures.metrics.get(metric))
        .map(|metric| metric.value)
        .collect();
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = *values.get(values.len().saturating_sub(1) / 2)?;
    Some((tidy(lower.midpoint(upper)), values.len()))
}
