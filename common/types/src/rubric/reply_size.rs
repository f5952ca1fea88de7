//! Size of a full reply, to hold an output limit against.

use super::{Formula, ReplyVersion, Rubric};

/// Tokens of one finding with all its fields; measured on recorded findings of 60 to 85.
const OF_FINDING: u32 = 90;
/// Tokens of a statement of version 1 or of a strength.
const OF_STATEMENT: u32 = 30;
/// Statements that version 1 has room for.
const STATEMENTS: u32 = 20;
/// Strengths that version 2 asks for.
const STRENGTHS: u32 = 3;
/// Tokens of a criterion with a reason of 25, of 15 and of no words.
const OF_RATIONALE: u32 = 50;
const OF_REASON: u32 = 35;
const OF_SCORE: u32 = 10;
/// Tokens of the object around everything, with an overall assessment.
const FRAME: u32 = 100;

impl Rubric {
    /// Output tokens that the longest reply takes which the rubric asks for, roughly and rounded
    /// up.
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
                (of_criterion, self.findings.max.saturating_mul(OF_FINDING) + strengths)
            }
        };
        criteria.saturating_mul(of_criterion).saturating_add(statements).saturating_add(FRAME)
    }
}

#[cfg(test)]
mod tests {
    use crate::rubric::builtin;

    #[test]
    fn every_builtin_rubric_holds_a_full_reply() {
        for rubric in builtin() {
            let rubric = rubric.parse().unwrap();
            let needed = rubric.needed_output_tokens();
            assert!(needed <= rubric.max_output_tokens, "{}: {needed}", rubric.name());
        }
    }

    #[test]
    fn more_findings_take_more_room() {
        let mut rubric = builtin()[0].parse().unwrap();
        let twenty = rubric.needed_output_tokens();
        rubric.findings.max = 40;
        assert_eq!(rubric.needed_output_tokens(), twenty + 20 * 90);
    }
}
