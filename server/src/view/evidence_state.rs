//! Filter of results by their evidence.

use juror_types::{evidence::EvidenceOutcome, outcome::JobResult, verdict::Verdict};
use serde::Deserialize;

/// State of a result's evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceState {
    /// Something differs.
    Differs,
    /// Nothing differs.
    Equal,
    /// The code could not be rendered.
    NotRendered,
    /// The verdict contradicts the measurement.
    Contradicts,
}

impl EvidenceState {
    /// States with names and texts.
    pub const ALL: [(Self, &'static str, &'static str); 4] = [
        (Self::Contradicts, "contradicts", "contradicts the verdict"),
        (Self::Differs, "differs", "something differs"),
        (Self::Equal, "equal", "nothing differs"),
        (Self::NotRendered, "not_rendered", "does not render"),
    ];

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, known, _)| *known == name).map(|(state, ..)| state)
    }

    /// True if a result has this state.
    pub fn holds(self, result: &JobResult) -> bool {
        match (self, &result.evidence) {
            (Self::Contradicts, _) => result.verdict().is_some_and(Verdict::contradicts_evidence),
            (Self::NotRendered, Some(EvidenceOutcome::Failed { .. })) => true,
            (Self::Differs, Some(EvidenceOutcome::Measured(measured))) => {
                !measured.regions.is_empty()
            }
            (Self::Equal, Some(EvidenceOutcome::Measured(measured))) => measured.regions.is_empty(),
            _ => false,
        }
    }
}
