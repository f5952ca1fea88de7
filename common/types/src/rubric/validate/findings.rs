//! Validation of the reply version and the vocabulary of findings.

use super::Problems;
use crate::{
    finding::{FindingVocabulary, OTHER},
    rubric::{FindingRules, ReplyVersion, Rubric},
    toml_problem::key_path::PathStep::{Entry, Key},
};

/// Maximum of a rubric's limit of findings.
const MAX_FINDINGS: u32 = 100;

pub(super) fn check(rubric: &Rubric, problems: &mut Problems<'_>) {
    let rules = &rubric.findings;
    if rubric.reply == ReplyVersion::One {
        if *rules != FindingRules::default() {
            problems
                .add(&[Key("findings")], "replies of version 1 have no findings; set `reply = 2`");
        }
        return;
    }
    if let Some(name) = &rules.builtin
        && FindingVocabulary::builtin(name).is_none()
    {
        let known: Vec<&str> = FindingVocabulary::builtin_names().collect();
        problems.add(
            &[Key("findings"), Key("vocabulary")],
            format!("there is no vocabulary {name:?}; use one of {}", known.join(", ")),
        );
        return;
    }
    if !(1..=MAX_FINDINGS).contains(&rules.max) {
        problems.add(&[Key("findings"), Key("max")], format!("is not from 1 to {MAX_FINDINGS}"));
    }
    check_entries(rubric, problems);
    let known = &rubric.vocabulary;
    for (list, has_other) in
        [("kinds", known.kind(OTHER).is_some()), ("elements", known.element(OTHER).is_some())]
    {
        if !has_other {
            problems.add(
                &[Key("findings"), Key(list)],
                format!(
                    "has no entry {OTHER:?}, for findings that fit no other; add it, or set a \
                     vocabulary that has it (`findings.vocabulary = \"interface\"`)"
                ),
            );
        }
    }
}

fn check_entries(rubric: &Rubric, problems: &mut Problems<'_>) {
    let rules = &rubric.findings;
    let kinds = rules.kinds.iter().map(|kind| kind.key.as_str());
    problems.check_names(&[Key("findings"), Key("kinds")], "key", kinds);
    let elements = rules.elements.iter().map(|element| element.key.as_str());
    problems.check_names(&[Key("findings"), Key("elements")], "key", elements);
    for (position, kind) in rules.kinds.iter().enumerate() {
        let place = |field| [Key("findings"), Key("kinds"), Entry(position, &kind.key), Key(field)];
        problems.check_filled(&place("title"), &kind.title);
        problems.check_filled(&place("means"), &kind.means);
        for key in &kind.criteria {
            if !rubric.criteria.iter().any(|criterion| criterion.key == *key) {
                problems.add(&place("criteria"), format!("no criterion has the key {key:?}"));
            }
        }
    }
    for (position, element) in rules.elements.iter().enumerate() {
        let place = [Key("findings"), Key("elements"), Entry(position, &element.key), Key("title")];
        problems.check_filled(&place, &element.title);
    }
}
