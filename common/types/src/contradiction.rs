//! Contradictions between a verdict's scores, its findings and the measured evidence.

use serde::{Deserialize, Serialize};

/// A consistency rule that a verdict breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Contradiction {
    /// A criterion is below the top score, and no finding touches it.
    DeductionWithoutFinding,
    /// A criterion has the top score, and a finding touches it.
    TopScoreWithFinding,
    /// A critical finding touches a criterion that is above the middle of the scale.
    CriticalAboveMiddle,
    /// The reply has the same finding twice.
    RepeatedFinding,
    /// The reply has more findings than the rubric allows.
    TooManyFindings,
    /// The similarity score is near the top, and a large difference was measured.
    SimilarityAgainstEvidence,
    /// The similarity score is low, and no difference was measured.
    DeductionAgainstEvidence,
    /// Token adherence has the top score, and the render lacks a color that the screenshot has.
    TokensAgainstEvidence,
}

impl Contradiction {
    /// Every rule.
    pub const ALL: [Self; 8] = [
        Self::DeductionWithoutFinding,
        Self::TopScoreWithFinding,
        Self::CriticalAboveMiddle,
        Self::RepeatedFinding,
        Self::TooManyFindings,
        Self::SimilarityAgainstEvidence,
        Self::DeductionAgainstEvidence,
        Self::TokensAgainstEvidence,
    ];

    /// True if it is between a verdict and the measured evidence.
    pub fn is_with_evidence(self) -> bool {
        matches!(
            self,
            Self::SimilarityAgainstEvidence
                | Self::DeductionAgainstEvidence
                | Self::TokensAgainstEvidence
        )
    }

    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::DeductionWithoutFinding => "deduction_without_finding",
            Self::TopScoreWithFinding => "top_score_with_finding",
            Self::CriticalAboveMiddle => "critical_above_middle",
            Self::RepeatedFinding => "repeated_finding",
            Self::TooManyFindings => "too_many_findings",
            Self::SimilarityAgainstEvidence => "similarity_against_evidence",
            Self::DeductionAgainstEvidence => "deduction_against_evidence",
            Self::TokensAgainstEvidence => "tokens_against_evidence",
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_results() {
        for rule in Contradiction::ALL {
            assert_eq!(serde_json::to_value(rule).unwrap(), rule.name());
        }
    }
}
