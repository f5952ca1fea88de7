//! Contradictions between a verdict's scores, its findings and the measured evidence.

use serde::{Deserialize, Serialize};

crate::serde_enum! {
    /// A consistency rule that a verdict breaks.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum Contradiction {
        /// A criterion is below the top score, and no finding touches it.
        DeductionWithoutFinding = "deduction_without_finding",
        /// A criterion has the top score, and a finding touches it.
        TopScoreWithFinding = "top_score_with_finding",
        /// A critical finding touches a criterion that is above the middle of the scale.
        CriticalAboveMiddle = "critical_above_middle",
        /// The reply has the same finding twice.
        RepeatedFinding = "repeated_finding",
        /// The reply has more findings than the rubric allows.
        TooManyFindings = "too_many_findings",
        /// The similarity score is near the top, and a large difference was measured.
        SimilarityAgainstEvidence = "similarity_against_evidence",
        /// The similarity score is low, and no difference was measured.
        DeductionAgainstEvidence = "deduction_against_evidence",
        /// Token adherence has the top score, and the render lacks a color that the screenshot has.
        TokensAgainstEvidence = "tokens_against_evidence",
    }
}

impl Contradiction {
    /// True if it is between a verdict and the measured evidence.
    pub fn is_with_evidence(self) -> bool {
        matches!(
            self,
            Self::SimilarityAgainstEvidence
                | Self::DeductionAgainstEvidence
                | Self::TokensAgainstEvidence
        )
    }

    /// The title in reports.
    pub fn title(self) -> &'static str {
        match self {
            Self::DeductionWithoutFinding => "a score below the top without a finding",
            Self::TopScoreWithFinding => "a top score with a finding",
            Self::CriticalAboveMiddle => "a critical finding with a score above the middle",
            Self::RepeatedFinding => "the same finding twice",
            Self::TooManyFindings => "more findings than allowed",
            Self::SimilarityAgainstEvidence => {
                "a high similarity score with a large measured difference"
            }
            Self::DeductionAgainstEvidence => {
                "a low similarity score without a measured difference"
            }
            Self::TokensAgainstEvidence => "top token adherence where the render lacks a color",
        }
    }
}
