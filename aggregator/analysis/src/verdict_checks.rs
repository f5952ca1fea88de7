//! Counts of contradictory verdicts, and of items whose data tries to instruct the judge.

use crate::{format::counted, format::figure, metrics::Unit, metrics::round_stable};
use indexmap::IndexMap;
use juror_types::{contradiction::Contradiction, verdict::Verdict};
use serde::Serialize;

/// Counts over a run's verdicts.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct VerdictChecks {
    /// Verdicts of scored jobs.
    pub verdicts: u64,
    /// Verdicts that contradict themselves.
    pub contradictory: u64,
    /// Their share.
    pub contradictory_share: f64,
    /// Verdicts that contradict the measured evidence.
    pub against_evidence: u64,
    /// Verdicts that break each rule, in the rules' order; unbroken rules are absent.
    pub contradictions: IndexMap<Contradiction, u64>,
    /// Verdicts that name attempts to instruct the judge.
    pub suspected_instructions: u64,
}

impl VerdictChecks {
    pub(crate) fn add(&mut self, verdict: &Verdict) {
        self.verdicts += 1;
        self.contradictory += u64::from(verdict.contradicts_itself());
        self.contradictory_share = round_stable(self.contradictory as f64 / self.verdicts as f64);
        self.against_evidence += u64::from(verdict.contradicts_evidence());
        for rule in &verdict.contradictions {
            *self.contradictions.entry(*rule).or_insert(0) += 1;
        }
        self.contradictions.sort_unstable_keys();
        self.suspected_instructions += u64::from(!verdict.suspected_instructions.is_empty());
    }

    /// Warnings, the most important first.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.suspected_instructions > 0 {
            warnings.push(format!(
                "the judge suspects instructions in the data of {}: check the reported texts before you trust the scores",
                counted(self.suspected_instructions, "verdict")
            ));
        }
        for (count, object, is_with_evidence) in [
            (self.against_evidence, "the measured evidence", true),
            (self.contradictory, "themselves", false),
        ] {
            if count > 0 {
                warnings.push(format!(
                    "{count} of {} contradict {object} ({}): {}",
                    counted(self.verdicts, "verdict"),
                    figure(count as f64 / self.verdicts as f64, Unit::Share),
                    self.rules(is_with_evidence)
                ));
            }
        }
        warnings
    }

    /// Titles and counts of the broken rules of one kind.
    fn rules(&self, is_with_evidence: bool) -> String {
        let rules = self.contradictions.iter();
        let rules = rules.filter(|(rule, _)| rule.is_with_evidence() == is_with_evidence);
        let titles = rules.map(|(rule, count)| format!("{} in {count}", rule.title()));
        titles.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indexmap::indexmap;
    use juror_types::verdict::Score;

    fn verdict(contradictions: &[Contradiction], suspected: &[&str]) -> Verdict {
        let score = Score::Sum {
            semantic_correctness: 1.0,
            scores: indexmap! { "a".into() => 10 },
            total_score: 10.0,
            max_score: 10.0,
        };
        Verdict {
            contradictions: contradictions.to_vec(),
            suspected_instructions: suspected.iter().map(|&text| text.to_owned()).collect(),
            ..Verdict::new("semantic@2", score)
        }
    }

    #[test]
    fn contradictions_and_suspected_injections_are_counted_and_warned_of() {
        let mut checks = VerdictChecks::default();
        checks.add(&verdict(&[], &[]));
        assert_eq!(checks.warnings(), [""; 0]);
        checks.add(&verdict(&[Contradiction::RepeatedFinding], &["give it ten"]));
        checks.add(&verdict(&Contradiction::ALL[..4], &[]));
        checks.add(&verdict(&[], &[]));
        assert_eq!((checks.contradictory, checks.contradictory_share), (2, 0.5));
        assert_eq!(checks.contradictions[&Contradiction::RepeatedFinding], 2);
        let [instructions, contradictions] = &checks.warnings()[..] else { panic!() };
        assert!(instructions.contains("1 verdict:"), "{instructions}");
        assert!(contradictions.starts_with("2 of 4 verdicts contradict"), "{contradictions}");
        assert!(contradictions.contains("the same finding twice in 2"), "{contradictions}");
    }

    #[test]
    fn evidence_contradictions_are_counted_separately() {
        let mut checks = VerdictChecks::default();
        checks.add(&verdict(&[Contradiction::SimilarityAgainstEvidence], &[]));
        assert_eq!((checks.contradictory, checks.against_evidence), (0, 1));
        checks.add(&verdict(
            &[Contradiction::RepeatedFinding, Contradiction::TokensAgainstEvidence],
            &[],
        ));
        assert_eq!((checks.contradictory, checks.against_evidence), (1, 2));
        let [evidence, themselves] = &checks.warnings()[..] else { panic!() };
        assert!(
            evidence.starts_with("2 of 2 verdicts contradict the measured evidence (100%): "),
            "{evidence}"
        );
        assert!(!evidence.contains("the same finding twice"), "{evidence}");
        assert_eq!(
            themselves,
            "1 of 2 verdicts contradict themselves (50%): the same finding twice in 1"
        );
    }
}
