//! Labeled statements, and the agreement of a grouping with their labels. Included by the tests of
//! `issues` and by `benches/issues.rs`.

use std::collections::HashMap;

/// A statement with the name of the group that it belongs to.
#[derive(serde::Deserialize)]
pub struct Labeled {
    pub kind: String,
    pub group: String,
    pub text: String,
}

/// Precision, recall and F1 by B-cubed.
#[derive(Clone, Copy, Debug)]
pub struct LabelAgreement {
    pub precision: f64,
    pub recall: f64,
    pub f1: f64,
}

/// Statements for tuning, and held-out ones. The half of a statement in `labelled.jsonl` is a bit
/// of the FNV-1a hash of its text.
pub fn halves() -> (Vec<Labeled>, Vec<Labeled>) {
    read(include_str!("labelled.jsonl")).into_iter().partition(is_for_tuning)
}

/// Statements about other kinds of screens and about images: for tuning and held out by the same
/// rule.
pub fn domains() -> (Vec<Labeled>, Vec<Labeled>) {
    read(include_str!("domains.jsonl")).into_iter().partition(is_for_tuning)
}

/// Written when half of the vocabulary stood, and tuned by since.
pub fn added() -> Vec<Labeled> {
    read(include_str!("added.jsonl"))
}

/// Written when the vocabulary was finished, and never tuned by.
pub fn afterwards() -> Vec<Labeled> {
    read(include_str!("afterwards.jsonl"))
}

/// Groups statements of each kind by a function from texts to the number of each text's group, and
/// compares with the labels: for each statement, the share of its group that has its label, and the
/// share of its label that is in its group (Bagga and Baldwin 1998); means over all statements.
pub fn agreement(
    statements: &[Labeled],
    group: impl Fn(&str, &[String]) -> Vec<usize>,
) -> LabelAgreement {
    let (mut precision, mut recall) = (0.0, 0.0);
    for kind in ["issue", "strength"] {
        let of_kind: Vec<&Labeled> =
            statements.iter().filter(|statement| statement.kind == kind).collect();
        let texts: Vec<String> = of_kind.iter().map(|statement| statement.text.clone()).collect();
        let groups = group(kind, &texts);
        let mut in_group: HashMap<usize, f64> = HashMap::new();
        let mut in_label: HashMap<&str, f64> = HashMap::new();
        let mut in_both: HashMap<(usize, &str), f64> = HashMap::new();
        for (statement, group) in of_kind.iter().zip(&groups) {
            *in_group.entry(*group).or_default() += 1.0;
            *in_label.entry(&statement.group).or_default() += 1.0;
            *in_both.entry((*group, &statement.group)).or_default() += 1.0;
        }
        for ((group, label), both) in in_both {
            precision += both * both / in_group[&group];
            recall += both * both / in_label[label];
        }
    }
    let count = statements.len() as f64;
    let (precision, recall) = (precision / count, recall / count);
    LabelAgreement { precision, recall, f1: 2.0 * precision * recall / (precision + recall) }
}

fn is_for_tuning(statement: &Labeled) -> bool {
    let hash = statement.text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash >> 32 & 1 == 0
}

fn read(lines: &str) -> Vec<Labeled> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
