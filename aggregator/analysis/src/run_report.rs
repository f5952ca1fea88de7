//! The report of a run as data, which every format renders.

use crate::{
    calibration::{
        CalibrationScope,
        stored_calibration::{KnownCalibration, RunCalibration},
    },
    comparison::Comparison,
    evidence_summary::EvidenceSummary,
    gate::GateReport,
    issues::StatementGroup,
    item_index::ItemIndex,
    likely_clusters::LikelyClusters,
    metrics::{Interval, Metric, metric_at},
    repeats::Repeats,
    run_facts::{Cost, Coverage, RunSummary, is_from_cache},
    verdict_checks::VerdictChecks,
};
use indexmap::IndexMap;
use juror_journal::journal::RunFiles;
use juror_types::{outcome::JobResult, rubric::Rubric, run::StageTerms};
use serde_json::{Map, Value};

/// A run's report without its items, which are read from the journal one by one while a format is
/// written.
#[derive(Clone, Debug)]
pub struct Report {
    /// Summary of the run's record.
    pub run: RunSummary,
    /// Metrics as plain numbers.
    pub overall: Map<String, Value>,
    /// Verdicts per grade, best grade first, for rubrics that grade; each repeat is a verdict.
    pub grades: Option<IndexMap<String, u64>>,
    /// Coverage of the dataset.
    pub coverage: Coverage,
    /// Cost of the run and its estimate.
    pub cost: Cost,
    /// Result of the gate, if there is one.
    pub gate: Option<GateReport>,
    /// Agreement of the judge with itself, if items were judged several times.
    pub repeats: Option<Repeats>,
    /// Agreement of its judge with people, if it is known.
    pub calibration: Option<RunCalibration>,
    /// Comparison with another run, if there is one.
    pub comparison: Option<Comparison>,
    /// Clusters that its dataset likely has and does not declare.
    pub likely_clusters: Option<LikelyClusters>,
    /// Checks of its verdicts against themselves; `None` without a verdict.
    pub verdict_checks: Option<VerdictChecks>,
    /// Measurements between screenshots and rendered code; `None` if there are none.
    pub evidence: Option<EvidenceSummary>,
    /// Common issues, most frequent first.
    pub common_issues: Vec<StatementGroup>,
    /// Common strengths, most frequent first.
    pub common_strengths: Vec<StatementGroup>,
    /// Number of issues in no group, beyond the maximum number of different ones.
    pub uncounted_issues: u64,
    /// Warnings for the reader.
    pub warnings: Vec<String>,
    /// The metrics with their titles, for display.
    pub metrics: Vec<Metric>,
    /// The items, and the places of their results.
    pub items: ItemIndex,
    /// The most urgent results: verdicts that contradict the evidence, jobs without a score, then the
    /// lowest scores. They lack their replies.
    pub worst: Vec<JobResult>,
    /// Rubric of the run.
    pub rubric: Rubric,
    /// Thresholds of an item's success; `None` in records of earlier versions.
    pub stages: Option<StageTerms>,
}

impl Report {
    /// Interval of each metric, by its path in `overall`.
    pub fn intervals(&self) -> IndexMap<&str, Interval> {
        self.metrics.iter().map(|metric| (&*metric.definition.path, metric.interval)).collect()
    }

    /// The metric at this path of `overall`.
    pub fn metric(&self, path: &str) -> Option<&Metric> {
        metric_at(&self.metrics, path)
    }

    /// True if all verdicts came from the cache.
    pub fn is_from_cache(&self) -> bool {
        is_from_cache(self.coverage.scored, self.cost.cached_verdicts)
    }

    /// Adds the calibration of the run's judge: the named one, or else one of the runs beside it.
    /// Unreadable ones are left out, with a warning.
    pub fn add_calibration(&mut self, files: &RunFiles, named: Option<&KnownCalibration>) {
        let Some(now) = CalibrationScope::for_run(files.record(), self.run.simulated) else {
            return;
        };
        let known = match (named, files.directory().parent()) {
            (Some(named), _) => Some(named.clone()),
            (None, None) => None,
            (None, Some(runs_dir)) => {
                let (newest, unreadable) = KnownCalibration::newest_in(runs_dir, &now);
                self.warnings.extend(unreadable.iter().map(ToString::to_string));
                newest
            }
        };
        self.calibration = known.map(|known| known.for_run(&now, self.run.base_url.as_deref()));
    }
}
