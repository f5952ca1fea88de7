//! Figures of earlier comparable runs, from their reports.

mod control_limit;
mod decline_detection;
mod earlier;
mod read;
#[cfg(test)]
mod tests;

pub use decline_detection::{DeclineReport, DeclineState, DeclineWatch, SeriesPoint};
pub use earlier::{earlier_runs, runs_in, runs_of_equal_stages, runs_of_one_kind};
pub use read::{
    HistoryError, PastRun, SavedCost, SavedJudge, SavedReport, SavedRubric, SavedRun, read_report,
};

use juror_journal::journal::RunFiles;
use juror_types::{id::RunId, outcome::CountAs, run::RunRecord, usage::Money};
use serde::Serialize;
use std::collections::BTreeMap;

/// Figure of one metric in one run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PastMetric {
    /// The metric, in its own unit.
    pub value: f64,
    /// Items that it is over.
    pub n: u64,
    /// Lower end of its 95 % interval; `None` without sufficient data.
    pub low: Option<f64>,
    /// Upper end of its 95 % interval; `None` without sufficient data.
    pub high: Option<f64>,
}

/// A run and the runs of its kind before it.
#[derive(Clone, Copy, Debug)]
pub struct RunSeries<'a> {
    /// Earlier runs, newest first.
    pub earlier: &'a [PastRun],
    /// True if all verdicts of the run came from the cache.
    pub from_cache: bool,
    /// True if the simulator judged the run: its scores and those of a judge are no series.
    pub simulated: bool,
}

impl<'a> RunSeries<'a> {
    /// Earlier runs that were judged by the simulator if this one was, newest first.
    pub(crate) fn alike(self) -> impl DoubleEndedIterator<Item = &'a PastRun> {
        self.earlier.iter().filter(move |run| run.figures.simulated == self.simulated)
    }
}

/// Figures of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunFigures {
    /// Each metric that had data, by its path in `overall`.
    pub metrics: BTreeMap<String, PastMetric>,
    /// Jobs that were planned.
    pub planned: u64,
    /// Jobs that were scored.
    pub scored: u64,
    /// Cost of the run.
    pub cost_usd: Money,
    /// True if all its verdicts came from the cache.
    #[serde(skip)]
    pub from_cache: bool,
    /// True if its scores were made up.
    pub simulated: bool,
    /// Model fingerprints of replies, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fingerprints: Vec<String>,
    /// Length in bytes of the journal that they are from; `None` if unknown.
    #[serde(skip)]
    pub journal_bytes: Option<u64>,
}

impl RunFigures {
    /// True unless the journal has changed since the report was written: the run was resumed, or
    /// results were lost.
    pub fn are_current(&self, files: &RunFiles) -> bool {
        self.journal_bytes.is_none_or(|bytes| bytes == files.journal_bytes())
    }

    /// The figure of a metric as a point of a series, where this is the run of that id.
    pub fn point<'a>(&self, run: &'a RunId, metric: &str) -> Option<SeriesPoint<'a>> {
        let PastMetric { value, n, .. } = *self.metrics.get(metric)?;
        Some(SeriesPoint { run: Some(run), value, n, from_cache: self.from_cache })
    }
}

/// Changes of the model's fingerprints over runs, oldest first: the places of the runs that have
/// others than the last one before that named any, and a sentence for each.
pub fn fingerprint_changes<'a>(
    runs: impl Iterator<Item = (&'a RunId, &'a RunFigures)>,
) -> Vec<(usize, String)> {
    let mut changes = Vec::new();
    let mut before: Option<(&RunId, &[String])> = None;
    for (place, (run, figures)) in runs.enumerate() {
        let now = figures.fingerprints.as_slice();
        if now.is_empty() {
            continue;
        }
        if let Some((earlier, known)) = before.filter(|(_, known)| *known != now) {
            let (known, now) = (known.join(", "), now.join(", "));
            changes.push((
                place,
                format!("the model's fingerprint changed from {known} (run {earlier}) to {now} (run {run})"),
            ));
        }
        before = Some((run, now));
    }
    changes
}

/// True if a run was created before another one.
pub fn is_before(run: &RunRecord, other: &RunRecord) -> bool {
    run.created_at < other.created_at && run.run_id != other.run_id
}

/// True if two runs are comparable: the same items, rubric and judge with the same evidence, with
/// any number of repeats and any budget.
pub fn are_comparable(one: &RunRecord, other: &RunRecord) -> bool {
    let dataset = |run: &RunRecord| {
        let dataset = &run.dataset;
        (dataset.path.clone(), dataset.limit, dataset.filters.clone(), dataset.sample)
    };
    dataset(one) == dataset(other)
        && one.rubric == other.rubric
        && one.judge == other.judge
        // Without a judge, measuring changes no other figure.
        && (one.judge.is_none() || one.evidence == other.evidence)
        && one.max_side == other.max_side
}

/// True if the figures of two runs differ only by noise and by their inputs: they are comparable,
/// with equal numbers of items and repeats, equal terms of deterministic stages and images, and the
/// same jobs in their averages.
pub fn is_of_one_kind(one: &RunRecord, other: &RunRecord) -> bool {
    are_comparable(one, other)
        && (one.planned, one.repeat) == (other.planned, other.repeat)
        && one.stages == other.stages
        && one.preparation == other.preparation
        && averaged(one) == averaged(other)
}

/// True if outcomes of two runs differ only by noise and by their inputs: they are comparable, with
/// equal terms of deterministic stages.
pub(crate) fn have_equal_stages(one: &RunRecord, other: &RunRecord) -> bool {
    are_comparable(one, other) && one.stages == other.stages
}

/// Treatment of jobs without a verdict in a run's averages.
fn averaged(run: &RunRecord) -> Option<[Option<CountAs>; 2]> {
    run.decision.as_ref().map(|terms| [terms.failed_jobs, terms.missing_output])
}
