//! The report of a run as data, which every format renders.

use crate::{
    calibration::{
        Binding,
        known::{KnownCalibration, RunCalibration},
    },
    comparison::Comparison,
    gate::GateReport,
    issues::StatementGroup,
    item_row::ItemRow,
    items::Items,
    likely_clusters::LikelyClusters,
    metrics::{Interval, Metric, Overall},
    repeats::Repeats,
    run_facts::{Cost, Coverage, RunSummary},
    verdict_checks::VerdictChecks,
};
use indexmap::IndexMap;
use juror_journal::journal::RunFiles;
use juror_types::rubric::Rubric;

/// Everything that a run says, but for its items: those are read from the journal one by one
/// while a format is written.
#[derive(Clone, Debug)]
pub struct Report {
    /// What the run is.
    pub run: RunSummary,
    /// Its metrics as plain numbers.
    pub overall: Overall,
    /// How sure each metric is, by its path in `overall`.
    pub intervals: IndexMap<String, Interval>,
    /// How much of the dataset was judged.
    pub coverage: Coverage,
    /// What it cost.
    pub cost: Cost,
    /// What became of the gate, if there is one.
    pub targets: Option<GateReport>,
    /// What judging items several times told of the judge, if they were.
    pub repeats: Option<Repeats>,
    /// What is known of its judge's agreement with people, if anything is.
    pub calibration: Option<RunCalibration>,
    /// What became of it since another run, if it was compared.
    pub comparison: Option<Comparison>,
    /// Clusters that its dataset likely has and does not declare.
    pub likely_clusters: Option<LikelyClusters>,
    /// Whether its verdicts agree with themselves; none without a verdict.
    pub verdict_checks: Option<VerdictChecks>,
    /// What is often wrong, most frequent first.
    pub common_issues: Vec<StatementGroup>,
    /// What is often right, most frequent first.
    pub common_strengths: Vec<StatementGroup>,
    /// Issues that stand in no group, since there were more different ones than are counted.
    pub uncounted_issues: u64,
    /// What a reader must know.
    pub warnings: Vec<String>,
    /// The metrics once more, with their titles, for formats that are read by people.
    pub metrics: Vec<Metric>,
    /// The items, and where their results stand.
    pub items: Items,
    /// The results to look at first: not scored, then the lowest scores.
    pub worst: Vec<ItemRow>,
    /// The rubric.
    pub rubric: Rubric,
}

impl Report {
    /// Adds what is known of the run's judge: by the calibration that is named, or else by those of
    /// the runs beside it. One of these that cannot be read is left out, with a warning.
    pub fn add_calibration(&mut self, files: &RunFiles, named: Option<&KnownCalibration>) {
        let Some(now) = Binding::of(files.record(), self.run.simulated) else { return };
        let known = match (named, files.directory().parent()) {
            (Some(named), _) => Some(named.clone()),
            (None, None) => None,
            (None, Some(runs_dir)) => {
                let (newest, unreadable) = KnownCalibration::newest_in(runs_dir, &now);
                self.warnings.extend(unreadable.iter().map(ToString::to_string));
                newest
            }
        };
        self.calibration = known.map(|known| known.of_run(&now, self.run.base_url.as_deref()));
    }
}
