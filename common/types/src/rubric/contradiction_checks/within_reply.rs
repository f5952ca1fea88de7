//! Contradictions between a reply's scores and its findings.

use crate::{
    contradiction::Contradiction,
    finding::{Finding, Severity},
    rubric::{Formula, ParsedReply, ReplyVersion, Rubric},
};
use std::collections::HashSet;

/// The rules that a reply breaks. Replies of version 1 have no findings: scores below the top need
/// an issue, and top scores throughout exclude issues; where issues are made from the scores
/// (`weighted_groups`), there are no contradictions.
pub fn contradictions_within_reply(rubric: &Rubric, answer: &ParsedReply) -> Vec<Contradiction> {
    match (rubric.reply, rubric.formula) {
        (ReplyVersion::Two, _) => broken_rules(rubric, answer),
        (ReplyVersion::One, Formula::SumOverMax) => {
            let is_top = answer.scores.values().all(|(score, _)| *score >= rubric.scale.max);
            match (is_top, answer.issues.is_empty()) {
                (false, true) => vec![Contradiction::DeductionWithoutFinding],
                (true, false) => vec![Contradiction::TopScoreWithFinding],
                _ => Vec::new(),
            }
        }
        (ReplyVersion::One, Formula::WeightedGroups) => Vec::new(),
    }
}

/// The rules that a reply of version 2 breaks.
fn broken_rules(rubric: &Rubric, answer: &ParsedReply) -> Vec<Contradiction> {
    // Each score with the worst severity of the findings that touch its criterion.
    let scores = answer.scores.iter().map(|(key, (score, _))| {
        let touching = answer.findings.iter().filter(|finding| finding.criteria.contains(key));
        (*score, touching.map(|finding| finding.severity).max())
    });
    let scores: Vec<(u32, Option<Severity>)> = scores.collect();
    let top = rubric.scale.max;
    let double_middle = u64::from(rubric.scale.min) + u64::from(top);
    let is_critical_above_middle = |(score, worst): &(u32, Option<Severity>)| {
        2 * u64::from(*score) > double_middle && *worst == Some(Severity::Critical)
    };
    let deducts = scores.iter().any(|(score, worst)| *score < top && worst.is_none());
    let is_top = scores.iter().any(|(score, worst)| *score >= top && worst.is_some());
    let too_many = answer.findings.len() > rubric.findings.max as usize;
    let rules = [
        (Contradiction::DeductionWithoutFinding, deducts),
        (Contradiction::TopScoreWithFinding, is_top),
        (Contradiction::CriticalAboveMiddle, scores.iter().any(is_critical_above_middle)),
        (Contradiction::RepeatedFinding, repeats_a_finding(&answer.findings)),
        (Contradiction::TooManyFindings, too_many),
    ];
    rules.into_iter().filter_map(|(rule, is_broken)| is_broken.then_some(rule)).collect()
}

/// True if two findings have the same kind, element, place and texts, ignoring case and white
/// space.
fn repeats_a_finding(findings: &[Finding]) -> bool {
    let mut known = HashSet::new();
    findings.iter().any(|finding| {
        let texts =
            [&finding.kind, &finding.element, &finding.place, &finding.shown, &finding.found];
        !known.insert(texts.map(|text| plain(text)))
    })
}

fn plain(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rubric::builtin_named;

    fn rubric(name: &str) -> Rubric {
        builtin_named(name).unwrap().parse().unwrap()
    }

    /// Reply with this score for every criterion, which all of these findings touch.
    fn answer(rubric: &Rubric, score: u32, findings: Vec<Finding>) -> ParsedReply {
        let criteria = rubric.criteria.iter();
        let scores = criteria.map(|criterion| (criterion.key.clone(), (score, None))).collect();
        ParsedReply { scores, findings, ..ParsedReply::default() }
    }

    fn finding(rubric: &Rubric, place: &str, severity: Severity) -> Finding {
        Finding {
            kind: "wrong_color".into(),
            element: "button".into(),
            place: place.into(),
            criteria: rubric.criteria.iter().map(|criterion| criterion.key.clone()).collect(),
            shown: "blue".into(),
            found: "red".into(),
            severity,
            statement: "The button is red".into(),
            region: None,
            unlisted_kind: None,
            unlisted_element: None,
        }
    }

    fn broken(score: u32, findings: Vec<Finding>) -> Vec<Contradiction> {
        let rubric = rubric("semantic@2");
        contradictions_within_reply(&rubric, &answer(&rubric, score, findings))
    }

    #[test]
    fn valid_verdicts_have_no_contradiction() {
        let rubric = rubric("semantic@2");
        assert_eq!(broken(10, vec![]), []);
        assert_eq!(broken(7, vec![finding(&rubric, "left", Severity::Major)]), []);
        assert_eq!(broken(5, vec![finding(&rubric, "left", Severity::Critical)]), []);
    }

    #[test]
    fn a_score_below_the_top_needs_a_finding_on_its_own_criterion() {
        assert_eq!(broken(3, vec![]), [Contradiction::DeductionWithoutFinding]);
        let rubric = rubric("semantic@2");
        let mut one = finding(&rubric, "left", Severity::Minor);
        one.criteria.truncate(1);
        assert_eq!(broken(9, vec![one]), [Contradiction::DeductionWithoutFinding]);
    }

    #[test]
    fn a_top_score_with_a_finding_contradicts() {
        let rubric = rubric("semantic@2");
        let found = broken(10, vec![finding(&rubric, "left", Severity::Minor)]);
        assert_eq!(found, [Contradiction::TopScoreWithFinding]);
    }

    #[test]
    fn critical_finding_contradicts_a_score_above_the_middle() {
        let rubric = rubric("semantic@2");
        let found = broken(6, vec![finding(&rubric, "left", Severity::Critical)]);
        assert_eq!(found, [Contradiction::CriticalAboveMiddle]);
    }

    #[test]
    fn duplicate_finding_contradicts_and_one_at_another_place_does_not() {
        let rubric = rubric("semantic@2");
        let at = |place: &str| finding(&rubric, place, Severity::Minor);
        assert_eq!(broken(8, vec![at("left"), at(" LEFT")]), [Contradiction::RepeatedFinding]);
        assert_eq!(broken(8, vec![at("left"), at("right")]), []);
    }

    #[test]
    fn more_findings_than_the_rubric_allows_contradict() {
        let rubric = rubric("semantic@2");
        let findings = |count: u32| {
            (0..count).map(|n| finding(&rubric, &n.to_string(), Severity::Minor)).collect()
        };
        assert_eq!(broken(8, findings(rubric.findings.max)), []);
        assert_eq!(broken(8, findings(rubric.findings.max + 1)), [Contradiction::TooManyFindings]);
    }

    #[test]
    fn version_one_verdicts_contradict_by_their_issues_as_a_whole() {
        let rubric = rubric("semantic@1");
        let with = |score, issues: &[&str]| {
            let issues = issues.iter().map(|&issue| issue.to_owned()).collect();
            contradictions_within_reply(
                &rubric,
                &ParsedReply { issues, ..answer(&rubric, score, vec![]) },
            )
        };
        assert_eq!(with(3, &[]), [Contradiction::DeductionWithoutFinding]);
        assert_eq!(with(10, &["No icon"]), [Contradiction::TopScoreWithFinding]);
        assert_eq!((with(3, &["No icon"]), with(10, &[])), (vec![], vec![]));
    }
}
