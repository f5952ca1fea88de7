//! Views of runs: results read from the journal and cached until it changes.

mod evidence_state;
mod query;
mod rows;
mod saved_report;
mod view_cache;

pub use evidence_state::EvidenceState;
pub use query::{Order, RowQuery};
pub use rows::Row;
pub use saved_report::Saved;
pub use view_cache::Views;

use juror_analysis::{
    compute_report::{ReportInput, compute_report},
    metrics::AveragingPolicy,
    run_report::Report,
};
use juror_app::{item_source::ItemSource, run_catalog::RunState};
use juror_journal::journal::{JournalError, RunFiles};
use juror_ledger::admission::RunAccount;
use juror_report::topics::results::{ResultColumn, columns};
use juror_types::{
    id::Digest,
    outcome::JobResult,
    rubric::{Rubric, RubricError},
};
use rows::Rows;

/// A run in memory: its report, and a row of about 150 bytes for each result. The results
/// themselves stay in the journal.
pub struct RunView {
    pub files: RunFiles,
    pub state: RunState,
    /// Report computed from the journal.
    pub report: Report,
    /// Content of `report.json` that is not in the journal.
    pub saved: Saved,
    /// Columns of its results, those without data included.
    pub columns: Vec<ResultColumn>,
    rows: Rows,
}

/// Reason why a run cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// Missing or unreadable files.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// An invalid rubric in its record.
    #[error("the rubric in run.json cannot be used: {0}")]
    Rubric(#[from] RubricError),
    /// The task failed.
    #[error("reading the run was interrupted; retry")]
    Interrupted,
}

impl ViewError {
    /// True if there is no such run.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Journal(JournalError::Missing { .. }))
    }
}

impl RunView {
    /// Reads a run. Blocks for about a second for 20,000 results.
    fn read(
        files: RunFiles,
        state: RunState,
        ledger: Option<RunAccount>,
        averaging: AveragingPolicy,
        item_source: &dyn ItemSource,
    ) -> Result<Self, ViewError> {
        let record = files.record();
        let rubric = Rubric::parse(&record.rubric_text, "run.json")?;
        let saved = Saved::read(&files);
        let gate = item_source.gate(&rubric);
        let input = ReportInput::new(&rubric, averaging);
        let input = ReportInput { ledger, gate: gate.as_ref(), ..input };
        let mut report = compute_report(&files, &input)?;
        if let (RunState::Running, Some(ledger)) = (state, ledger) {
            report.cost = report.cost.with_in_flight(ledger.outstanding);
        }
        report.add_calibration(&files, None);
        if let Some(gate) = saved.gate_of(&report.coverage) {
            report.gate = Some(gate);
        }
        let columns = columns(&report);
        let rows = Rows::from_report(&report, &columns, report.items.read(&files)?)?;
        Ok(Self { files, state, report, saved, columns, rows })
    }

    /// Number of results.
    pub fn len(&self) -> usize {
        self.rows.rows.len()
    }

    /// True if there are no results.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Tags with their number of results, most frequent first.
    pub fn tags(&self) -> &[(String, u64)] {
        &self.rows.tags
    }

    /// Number of a finding's kind in rows; `u16::MAX`, which no row has, for one that the rubric lacks.
    pub fn kind(&self, key: &str) -> u16 {
        rows::kind_number(&self.report.rubric, key).unwrap_or(u16::MAX)
    }

    /// Number of a tag in rows; `u16::MAX`, which no row has, for one that the run lacks.
    pub fn tag(&self, tag: &str) -> u16 {
        let place = self.tags().iter().position(|(known, _)| known == tag);
        place.and_then(|place| u16::try_from(place).ok()).unwrap_or(u16::MAX)
    }

    /// Position of the issue with this label; `u32::MAX` for one that the run lacks.
    pub fn issue(&self, label: &str) -> u32 {
        position_or_max(self.report.common_issues.iter().map(|group| group.label == label))
    }

    /// Position of the strength with this label, likewise.
    pub fn strength(&self, label: &str) -> u32 {
        position_or_max(self.report.common_strengths.iter().map(|group| group.label == label))
    }

    /// Position of the repair with this label, likewise.
    pub fn repair(&self, label: &str) -> u32 {
        let repairs = self.report.evidence.iter().flat_map(|evidence| &evidence.repairs);
        position_or_max(repairs.map(|repair| repair.label() == label))
    }

    /// Positions of the results of a query, in its order.
    pub fn select(&self, query: &RowQuery) -> Vec<u32> {
        query.select(&self.report, &self.rows)
    }

    /// The row of the result at a position.
    pub fn row(&self, place: u32) -> Option<&Row> {
        self.rows.rows.get(place as usize)
    }

    /// The item's id of the result at a position.
    pub fn id_at(&self, place: u32) -> &str {
        self.report.items.number_at(place).map_or("", |item| self.report.items.id(item))
    }

    /// The position of an item's result.
    pub fn place_of(&self, item: &str, repeat: u32) -> Option<u32> {
        self.rows.place_of(&self.report, item, repeat)
    }

    /// The position of a result whose item has an image of this digest.
    pub fn place_of_image(&self, digest: &Digest) -> Option<u32> {
        self.rows.place_of_image(digest)
    }

    /// Reads the result at a position from the journal.
    pub fn result(&self, place: u32) -> Result<Option<JobResult>, JournalError> {
        Ok(self.results(&[place])?.pop())
    }

    /// Reads the results at these positions from the journal, in this order.
    pub fn results(&self, places: &[u32]) -> Result<Vec<JobResult>, JournalError> {
        self.report.items.read_at(&self.files, places)?.collect()
    }
}

/// Position of the first match; `u32::MAX` without one.
fn position_or_max(mut matches: impl Iterator<Item = bool>) -> u32 {
    let position = matches.position(|is_match| is_match);
    position.and_then(|position| u32::try_from(position).ok()).unwrap_or(u32::MAX)
}
