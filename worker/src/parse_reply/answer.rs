//! The judge's answer in the JSON of a reply, of either version.

use super::{
    ReplyError,
    fields::{
        MAX_STATEMENTS, Object, as_text, get_list, get_object, get_score, get_statements, get_text,
        wrong_kind,
    },
};
use indexmap::IndexMap;
use juror_types::{
    finding::{Finding, OTHER, Severity},
    rubric::{Formula, ParsedReply, PromptField, Rubric},
};
use serde_json::Value;

/// Reads version 1: scores, then issues and strengths as texts.
pub(super) fn read_version_one(
    rubric: &Rubric,
    object: &Object,
) -> Result<ParsedReply, ReplyError> {
    let given = get_object(object, "scores", "scores")?;
    Ok(match rubric.formula {
        Formula::SumOverMax => ParsedReply {
            scores: plain_scores(rubric, given)?,
            issues: get_statements(object, "issues")?,
            strengths: get_statements(object, "strengths")?,
            ..ParsedReply::default()
        },
        Formula::WeightedGroups => ParsedReply {
            scores: scores(rubric, given)?,
            overall_assessment: overall_assessment(object)?,
            ..ParsedReply::default()
        },
    })
}

/// Reads version 2: findings, then a reason and a score for each criterion.
pub(super) fn read_version_two(
    rubric: &Rubric,
    object: &Object,
) -> Result<ParsedReply, ReplyError> {
    let mut findings = Vec::new();
    for (position, entry) in get_list(object, "findings", "findings")?.iter().enumerate() {
        let place = format!("findings[{position}]");
        let Value::Object(entry) = entry else {
            return Err(wrong_kind(&place, entry, "an object"));
        };
        findings.push(finding(rubric, entry, &place)?);
    }
    findings.truncate(MAX_STATEMENTS);
    Ok(ParsedReply {
        scores: scores(rubric, get_object(object, "scores", "scores")?)?,
        findings,
        strengths: match rubric.strengths {
            true => get_statements(object, "strengths")?,
            false => Vec::new(),
        },
        overall_assessment: match rubric.formula {
            Formula::SumOverMax => String::new(),
            Formula::WeightedGroups => overall_assessment(object)?,
        },
        suspected_instructions: get_statements(object, "suspected_instructions")?,
        issues: Vec::new(),
    })
}

type Scores = IndexMap<String, (u32, Option<String>)>;

fn finding(rubric: &Rubric, entry: &Object, place: &str) -> Result<Finding, ReplyError> {
    let text = |key: &str| get_text(entry, key, &format!("{place}.{key}"));
    let (kind, unlisted_kind) = listed(text("kind")?, |key| rubric.vocabulary.kind(key).is_some());
    let (element, unlisted_element) =
        listed(text("element")?, |key| rubric.vocabulary.element(key).is_some());
    let mut criteria = Vec::new();
    for key in get_list(entry, "criteria", &format!("{place}.criteria"))? {
        let key = plain_key(&as_text(key, &format!("{place}.criteria"))?);
        let known = rubric.criteria.iter().any(|criterion| criterion.key == key);
        if known && !criteria.contains(&key) {
            criteria.push(key);
        }
    }
    let statement = match text("statement")? {
        empty if empty.is_empty() => {
            rubric.vocabulary.kind(&kind).map(|kind| kind.title.clone()).unwrap_or_default()
        }
        statement => statement,
    };
    Ok(Finding {
        severity: severity(&text("severity")?, place)?,
        kind,
        element,
        place: text("where")?,
        criteria,
        shown: text("shown")?,
        found: text("found")?,
        statement,
        region: entry
            .get("region")
            .filter(|_| rubric.needs(PromptField::Evidence))
            .and_then(region),
        unlisted_kind,
        unlisted_element,
    })
}

/// The number of a measured region; `None` for 0 and whatever else numbers no region.
fn region(cited: &Value) -> Option<u32> {
    let number = cited.as_f64()?;
    let is_number = number.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(&number);
    is_number.then_some(number as u32)
}

/// The key of a word, and the word itself if the vocabulary lacks it.
fn listed(word: String, is_known: impl Fn(&str) -> bool) -> (String, Option<String>) {
    let key = plain_key(&word);
    if is_known(&key) { (key, None) } else { (OTHER.to_owned(), Some(word)) }
}

/// A word as a key: lax servers write `Wrong color` or `wrong-color`.
fn plain_key(word: &str) -> String {
    word.trim().to_ascii_lowercase().replace([' ', '-'], "_")
}

fn severity(word: &str, place: &str) -> Result<Severity, ReplyError> {
    let word = plain_key(word);
    Severity::from_name(&word).ok_or_else(|| ReplyError::WrongShape {
        place: format!("{place}.severity"),
        problem: format!("is {word:?} and not minor, major or critical"),
    })
}

fn overall_assessment(object: &Object) -> Result<String, ReplyError> {
    get_text(object, "overall_assessment", "overall_assessment")
}

fn plain_scores(rubric: &Rubric, given: &Object) -> Result<Scores, ReplyError> {
    let plain = rubric.criteria.iter().map(|criterion| {
        let place = format!("scores.{}", criterion.key);
        let score = get_score(rubric, given, &criterion.key, &place)?;
        Ok((criterion.key.clone(), (score, None)))
    });
    plain.collect()
}

/// Scores with their reasons.
fn scores(rubric: &Rubric, given: &Object) -> Result<Scores, ReplyError> {
    let mut scores = Scores::with_capacity(rubric.criteria.len());
    let mut read = |key: &str, given: &Object, place: &str, reason: &str| {
        let place = format!("{place}.{key}");
        let given = get_object(given, key, &place)?;
        let score = get_score(rubric, given, "score", &format!("{place}.score"))?;
        let why = get_text(given, reason, &format!("{place}.{reason}"))?;
        scores.insert(key.to_owned(), (score, Some(why)));
        Ok::<_, ReplyError>(())
    };
    match rubric.formula {
        Formula::SumOverMax => {
            for criterion in &rubric.criteria {
                read(&criterion.key, given, "scores", "why")?;
            }
        }
        Formula::WeightedGroups => {
            for group in &rubric.groups {
                let place = format!("scores.{}", group.key);
                let of_group = get_object(given, &group.key, &place)?;
                let place = format!("{place}.sub_scores");
                let of_group = get_object(of_group, "sub_scores", &place)?;
                for criterion in rubric.criteria_of(&group.key) {
                    read(&criterion.key, of_group, &place, "rationale")?;
                }
            }
        }
    }
    Ok(scores)
}
