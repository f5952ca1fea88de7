//! Size of a full reply, for checking an output limit.

use super::{Formula, ReplyVersion, Rubric};

/// Tokens of one finding with all its fields; recorded findings have 60 to 85.
const TOKENS_PER_FINDING: u32 = 90;
/// Tokens of a statement of version 1 or of a strength.
const OF_STATEMENT: u32 = 30;
/// Number of statements in a full reply of version 1.
const STATEMENTS: u32 = 20;
/// Number of strengths in a reply of version 2.
const STRENGTHS: u32 = 3;
/// Tokens of a criterion with a rationale of 25 words, a reason of 15, and none.
const OF_RATIONALE: u32 = 50;
const OF_REASON: u32 = 35;
const OF_SCORE: u32 = 10;
/// Tokens of the enclosing object with an overall assessment.
const FRAME: u32 = 100;

impl Rubric {
    /// Output tokens of the longest reply to the rubric, estimated and rounded up.
    pub fn needed_output_tokens(&self) -> u32 {
        let criteria = u32::try_from(self.criteria.len()).unwrap_or(u32::MAX);
        let (of_criterion, statements) = match (self.reply, self.formula) {
            (ReplyVersion::One, Formula::SumOverMax) => (OF_SCORE, STATEMENTS * OF_STATEMENT),
            (ReplyVersion::One, Formula::WeightedGroups) => (OF_RATIONALE, 0),
            (ReplyVersion::Two, formula) => {
                let of_criterion = match formula {
                    Formula::SumOverMax => OF_REASON,
                    Formula::WeightedGroups => OF_RATIONALE,
                };
                let strengths = if self.strengths { STRENGTHS * OF_STATEMENT } else { 0 };
                (of_criterion, self.findings.max.saturating_mul(TOKENS_PER_FINDING) + strengths)
            }
        };
        criteria.saturating_mul(of_criterion).saturating_add(statements).saturating_add(FRAME)
    }
}

#[cfg(test)]
mod tests {
    use crate::rubric::builtin;

    #[test]
    fn every_builtin_rubric_admits_a_full_reply() {
        for rubric in builtin() {
            let rubric = rubric.parse().unwrap();
            let needed = rubric.needed_output_tokens();
            assert!(needed <= rubric.max_output_tokens, "{}: {needed}", rubric.name());
        }
    }

    #[test]
    fn more_findings_need_more_reply_tokens() {
        let mut rubric = builtin()[0].parse().unwrap();
        let twenty = rubric.needed_output_tokens();
        rubric.findings.max = 40;
        assert_eq!(rubric.needed_output_tokens(), twenty + 20 * 90);
    }
}
