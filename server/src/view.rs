//! Results of a run, read from its journal and kept as long as that does not change.

mod columns;
mod evidence_state;
mod query;
mod rows;
mod saved;
mod view_cache;

pub use columns::{Column, ColumnKind};
pub use evidence_state::EvidenceState;
pub use query::{Order, RowQuery};
pub use rows::Row;
pub use saved::Saved;
pub use view_cache::Views;

use juror_analysis::{
    fold::Fold,
    metrics::AveragingPolicy,
    run_report::Report,
    stability::ItemStability,
    summary::{SummaryInput, summarize},
};
use juror_app::{catalog::RunState, items::ItemSource};
use juror_journal::journal::{JournalError, RunFiles};
use juror_ledger::admission::Ledger;
use juror_types::{
    id::Digest,
    outcome::JobResult,
    rubric::{Rubric, RubricError},
};
use rows::Rows;

/// A run in memory: its report, and a short row for each of its results, some 150 bytes each. The
/// results themselves stay in the journal.
pub struct RunView {
    /// Its files.
    pub files: RunFiles,
    /// Its state.
    pub state: RunState,
    /// Its report, computed from the journal as it is now.
    pub report: Report,
    /// Further content of its `report.json`.
    pub saved: Saved,
    /// The columns of scores, in the rubric's order.
    pub columns: Vec<Column>,
    rows: Rows,
}

/// Reason why a run cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// Its files cannot be read, or it is not there.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Its record holds a rubric that cannot be used.
    #[error("the rubric in run.json cannot be used: {0}")]
    Rubric(#[from] RubricError),
    /// The task that read it was broken off.
    #[error("reading the run was broken off; ask again")]
    Interrupted,
}

impl ViewError {
    /// True if there is no such run.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Journal(JournalError::Missing { .. }))
    }
}

impl RunView {
    /// Reads a run. Takes about a second for 20,000 results, and blocks meanwhile.
    fn read(
        files: RunFiles,
        state: RunState,
        ledger: Option<Ledger>,
        averaging: AveragingPolicy,
        item_source: &dyn ItemSource,
    ) -> Result<Self, ViewError> {
        let record = files.record();
        let rubric = Rubric::parse(&record.rubric_text, "run.json")?;
        let counted = Fold::of_journal(&files)?.counted();
        let saved = Saved::read(&files);
        let gate = item_source.gate(&rubric);
        let input = SummaryInput {
            counted: &counted,
            rubric: &rubric,
            ledger,
            gate: gate.as_ref(),
            earlier: &[],
            flaky: &ItemStability::default(),
            averaging,
            finished_at: saved.finished_at().unwrap_or_else(|| jiff::Timestamp::now().to_string()),
        };
        let mut report = summarize(&files, &input)?;
        if let (RunState::Running, Some(ledger)) = (state, ledger) {
            report.cost = report.cost.with_in_flight(ledger.outstanding);
        }
        report.add_calibration(&files, None);
        if let Some(targets) = saved.targets_of(&report.coverage) {
            report.targets = Some(targets);
        }
        let columns = columns::columns(&rubric, record.judge.is_some());
        let rows = Rows::of(&report, &columns, report.items.read(&files)?)?;
        Ok(Self { files, state, report, saved, columns, rows })
    }

    /// Number of its results.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// True if it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Every tag with the number of results that have it, most frequent first.
    pub fn tags(&self) -> &[(String, u64)] {
        self.rows.tags()
    }

    /// The number of a finding's kind in rows; none for one that the rubric lacks.
    pub fn kind_number(&self, key: &str) -> Option<u16> {
        rows::kind_number(&self.report.rubric, key)
    }

    /// The place of the repair with this label in the report; none if the run does not have it.
    pub fn repair(&self, label: &str) -> Option<u32> {
        let repairs = self.report.evidence.iter().flat_map(|evidence| &evidence.repairs);
        (0..).zip(repairs).find(|(_, repair)| repair.label() == label).map(|(place, _)| place)
    }

    /// The places of the results that a query selects, in its order.
    pub fn select(&self, query: &RowQuery) -> Vec<u32> {
        query.select(&self.report, &self.rows)
    }

    /// The row of the result at a place.
    pub fn row(&self, place: u32) -> Option<&Row> {
        self.rows.at(place)
    }

    /// The id of the item of the result at a place.
    pub fn id_at(&self, place: u32) -> &str {
        self.report.items.number_at(place).map_or("", |item| self.report.items.id(item))
    }

    /// The place of an item's result.
    pub fn place_of(&self, item: &str, repeat: u32) -> Option<u32> {
        self.rows.place_of(&self.report, item, repeat)
    }

    /// The place of a result whose item has an image of this digest.
    pub fn place_of_image(&self, digest: &Digest) -> Option<u32> {
        self.rows.place_of_image(digest)
    }

    /// Reads the results at these places from the journal, in this order.
    pub fn results(&self, places: &[u32]) -> Result<Vec<JobResult>, JournalError> {
        self.report.items.read_at(&self.files, places)?.collect()
    }
}
