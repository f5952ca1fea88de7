//! Grouping of findings by kind and element.

use super::*;
use juror_types::{finding::Severity, rubric::builtin_named, test_record};
use serde::Deserialize;
use std::collections::BTreeSet;

/// A line of `tests-data/findings.jsonl`.
#[derive(Deserialize)]
struct WrittenFinding {
    kind: String,
    element: String,
    language: String,
    statement: String,
}

fn written() -> Vec<WrittenFinding> {
    let lines = include_str!("../../tests-data/findings.jsonl").lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn finding(kind: &str, element: &str, statement: &str) -> Finding {
    Finding { severity: Severity::Major, ..test_record::finding(kind, element, statement) }
}

fn interface() -> Statements {
    let vocabulary = FindingVocabulary::builtin("interface").unwrap().clone();
    Statements::new(Tone::Issues, Vec::new(), 1_000).with_findings(vocabulary)
}

#[test]
fn three_hundred_findings_in_four_languages_are_grouped_exactly() {
    let written = written();
    let languages: BTreeSet<&str> = written.iter().map(|entry| entry.language.as_str()).collect();
    assert_eq!((written.len(), languages.len()), (300, 4));
    let mut statements = interface();
    for (item, entry) in (0..).zip(&written) {
        statements.add_findings(item, &[finding(&entry.kind, &entry.element, &entry.statement)]);
    }
    let groups = statements.finish(300).0;
    let wanted: BTreeSet<_> = written.iter().map(|entry| (&entry.kind, &entry.element)).collect();
    assert_eq!(groups.len(), wanted.len());
    for group in &groups {
        let (kind, element) = group.key.kind_and_element().unwrap();
        let of_group: Vec<u32> = (0..)
            .zip(&written)
            .filter(|(_, entry)| (entry.kind.as_str(), entry.element.as_str()) == (kind, element))
            .map(|(item, _)| item)
            .collect();
        assert_eq!(group.items, of_group, "{}", group.label);
        assert_eq!(group.key.grouped_by(), "kind");
    }
}

/// Every finding of the golden replies is counted under its own kind and element, once per item.
#[test]
fn the_golden_findings_are_grouped_exactly() {
    for (rubric, lines) in [
        ("semantic", include_str!("../../../../examples/golden/verdicts.jsonl")),
        ("acrue", include_str!("../../../../examples/golden/acrue/verdicts.jsonl")),
    ] {
        let vocabulary = builtin_named(rubric).unwrap().parse().unwrap().vocabulary;
        let mut statements =
            Statements::new(Tone::Issues, Vec::new(), 1_000).with_findings(vocabulary);
        let mut wanted: BTreeMap<(String, String), BTreeSet<u32>> = BTreeMap::new();
        for (item, line) in (0..).zip(lines.lines()) {
            let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
            let findings: Vec<Finding> =
                serde_json::from_value(line["reply"]["findings"].take()).unwrap();
            statements.add_findings(item, &findings);
            for finding in findings.into_iter().filter(|finding| finding.kind != OTHER) {
                wanted.entry((finding.kind, finding.element)).or_default().insert(item);
            }
        }
        let groups = statements.finish(10).0;
        let found: BTreeMap<(String, String), BTreeSet<u32>> = groups
            .iter()
            .filter_map(|group| {
                let (kind, element) = group.key.kind_and_element()?;
                Some(((kind.into(), element.into()), group.items.iter().copied().collect()))
            })
            .collect();
        assert!(!wanted.is_empty());
        assert_eq!(found, wanted, "{rubric}");
    }
}

#[test]
fn title_labels_a_group_and_statements_are_its_examples() {
    let mut statements = interface();
    let line = finding("wrong_border", "chart", "Line of the chart is a little thinner");
    statements.add_findings(0, &[line.clone(), line]);
    statements.add_findings(1, &[finding("wrong_border", "chart", "Rand fehlt")]);
    statements.add_findings(2, &[finding("wrong_border", "avatar", "Ring is missing")]);
    statements.add_findings(3, &[finding("wrong_border", "other", "No line")]);
    let groups = statements.finish(4).0;
    let labels: Vec<(&str, u64)> =
        groups.iter().map(|group| (group.label.as_str(), group.count)).collect();
    assert_eq!(
        labels,
        [("Wrong border: chart", 2), ("Wrong border", 1), ("Wrong border: avatar", 1)]
    );
    assert_eq!(groups[0].examples, ["Line of the chart is a little thinner", "Rand fehlt"]);
}

#[test]
fn unlisted_kinds_are_grouped_by_their_words() {
    let mut statements = interface();
    statements.add_findings(0, &[finding("other", "icon", "The icon is missing")]);
    statements.add_findings(1, &[finding("no_such_kind", "icon", "Missing icon in button")]);
    statements.add(2, &["No icon to be seen".to_owned()]);
    statements.add_findings(3, &[finding("wrong_size", "no_such_element", "Too large")]);
    let groups = statements.finish(4).0;
    assert_eq!((groups[0].count, groups[0].key.grouped_by()), (3, "words"));
    assert_eq!(groups[1].key.kind_and_element(), Some(("wrong_size", "other")));
    assert_eq!(groups.len(), 2);
}
