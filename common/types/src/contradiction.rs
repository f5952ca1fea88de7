//! Contradictions: rules that a verdict breaks whose scores and findings do not agree.

use serde::{Deserialize, Serialize};

/// A rule that a verdict breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Contradiction {
    /// A criterion is below the top score, and no finding touches it.
    DeductionWithoutFinding,
    /// A criterion has the top score, and a finding touches it.
    TopScoreWithFinding,
    /// A critical finding touches a criterion that is above the middle of the scale.
    CriticalAboveMiddle,
    /// The same finding stands in the answer twice.
    RepeatedFinding,
    /// The answer has more findings than the rubric allows.
    TooManyFindings,
    /// The picture is called as good as equal, and a large difference was measured in it.
    SimilarityAgainstEvidence,
    /// The picture is called unlike, and nothing was measured that differs.
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

    /// True if it is one between a verdict and the measured evidence.
    pub fn is_with_evidence(self) -> bool {
        matches!(
            self,
            Self::SimilarityAgainstEvidence
                | Self::DeductionAgainstEvidence
                | Self::TokensAgainstEvidence
        )
    }

    /// Its name in results.
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

    /// Its name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::DeductionWithoutFinding => "a score below the top without a finding",
            Self::TopScoreWithFinding => "a top score with a finding",
            Self::CriticalAboveMiddle => "a critical finding with a score above the middle",
            Self::RepeatedFinding => "the same finding twice",
            Self::TooManyFindings => "more findings than allowed",
            Self::SimilarityAgainstEvidence => "called alike where a large difference was measured",
            Self::DeductionAgainstEvidence => "called unlike where nothing was measured",
            Self::TokensAgainstEvidence => {
                "called true to the tokens where the render lacks a color"
            }
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
