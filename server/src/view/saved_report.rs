//! Content of a run's `report.json` that is not in its journal: gate and comparison.

use juror_analysis::{
    comparison::{BaselineChanges, Decision},
    gate::GateReport,
    history::read_report,
    run_facts::Coverage,
};
use juror_journal::journal::RunFiles;
use juror_types::id::RunId;
use serde::Deserialize;
use serde_json::Value;

/// Parts of a report that cannot be computed from the journal; empty without a report.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Saved {
    coverage: Coverage,
    #[serde(rename = "targets")]
    gate: Option<GateReport>,
    /// Comparison with a baseline, in JSON.
    comparison: Option<Value>,
}

/// Parts of a saved comparison.
#[derive(Clone, Debug, Deserialize)]
pub struct SavedComparison {
    /// The decision by the terms of the run.
    pub decision: Decision,
    /// The decision in one line.
    pub headline: String,
    /// Reason, as a clause without its full stop.
    pub reason: String,
    pub base: SavedBase,
    /// Items and issues that changed since.
    pub changes: BaselineChanges,
}

/// The baseline of a saved comparison.
#[derive(Clone, Debug, Deserialize)]
pub struct SavedBase {
    pub run: RunId,
}

impl Saved {
    /// Reads `report.json`. An unreadable report counts as missing: it can be written again.
    pub fn read(files: &RunFiles) -> Self {
        let read = read_report(&files.path_of("report.json")).inspect_err(|error| {
            tracing::warn!("report.json of run {} cannot be read: {error}", files.record().run_id);
        });
        read.ok().flatten().unwrap_or_default()
    }

    /// The comparison with the baseline of the run; `None` without one.
    pub fn comparison(&self) -> Option<SavedComparison> {
        // Comparisons of earlier versions have no changes.
        SavedComparison::deserialize(self.comparison.as_ref()?).ok()
    }

    /// Result of the gate, if it was decided with the current number of results.
    pub(super) fn gate_of(&self, now: &Coverage) -> Option<GateReport> {
        self.gate.clone().filter(|_| self.coverage == *now)
    }
}
