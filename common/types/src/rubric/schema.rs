//! JSON Schema of the reply to a rubric.

use super::{Criterion, Formula, PromptField, ReplyVersion, Rubric};
use crate::finding::Severity;
use serde_json::{Map, Value, json};

/// A strict JSON Schema of the judge's reply: all keys required, no others allowed, scores whole
/// numbers on the scale. It uses only features that every provider's structured output supports.
/// Keys are in the order in which the judge writes them.
///
/// Version 1 of `sum_over_max`:
/// `{"scores":{criterion:integer},"issues":[text],"strengths":[text]}`; of `weighted_groups`:
/// `{"scores":{group:{"sub_scores":{criterion:{"score":integer,
/// "rationale":text}}}},"overall_assessment":text}`.
///
/// Version 2 puts evidence first: `{"findings":[finding],"suspected_instructions":[text],
/// "scores":…,"strengths":[text]}`, in which a criterion is `{"why":text,"score":integer}`, or by
/// `weighted_groups` `{"rationale":text,"score":integer}` in its group, with `overall_assessment`
/// at the end. `strengths` is omitted where the rubric has none; where the rubric needs evidence, a
/// finding has the number of a measured `region`, or 0.
pub fn reply_schema(rubric: &Rubric) -> Value {
    match rubric.reply {
        ReplyVersion::One => version_one(rubric),
        ReplyVersion::Two => version_two(rubric),
    }
}

fn version_one(rubric: &Rubric) -> Value {
    match rubric.formula {
        Formula::SumOverMax => {
            let scores = scores(rubric, &score(rubric));
            object([("scores", scores), ("issues", texts()), ("strengths", texts())])
        }
        Formula::WeightedGroups => {
            let explained = object([("score", score(rubric)), ("rationale", text())]);
            object([("scores", scores(rubric, &explained)), ("overall_assessment", text())])
        }
    }
}

fn version_two(rubric: &Rubric) -> Value {
    let reason = match rubric.formula {
        Formula::SumOverMax => "why",
        Formula::WeightedGroups => "rationale",
    };
    let scores = scores(rubric, &object([(reason, text()), ("score", score(rubric))]));
    let findings = json!({"type": "array", "items": finding(rubric)});
    let mut parts =
        vec![("findings", findings), ("suspected_instructions", texts()), ("scores", scores)];
    if rubric.strengths {
        parts.push(("strengths", texts()));
    }
    if rubric.formula == Formula::WeightedGroups {
        parts.push(("overall_assessment", text()));
    }
    object(parts)
}

fn finding(rubric: &Rubric) -> Value {
    let kinds = rubric.vocabulary.kinds.iter().map(|kind| kind.key.as_str());
    let elements = rubric.vocabulary.elements.iter().map(|element| element.key.as_str());
    let criteria = rubric.criteria.iter().map(|criterion| criterion.key.as_str());
    let region = rubric.needs(PromptField::Evidence).then(|| ("region", region_number()));
    let parts = [
        ("kind", one_of(kinds)),
        ("element", one_of(elements)),
        ("where", text()),
        ("criteria", json!({"type": "array", "items": one_of(criteria)})),
        ("shown", text()),
        ("found", text()),
        ("severity", one_of(Severity::ALL.into_iter().map(Severity::name))),
        ("statement", text()),
    ];
    object(parts.into_iter().chain(region))
}

fn region_number() -> Value {
    described(
        json!({"type": "integer", "minimum": 0}),
        "Number of the measured region that shows it, or 0",
    )
}

/// The criteria, each with this schema and its title; groups have theirs under `sub_scores`.
fn scores(rubric: &Rubric, of_criterion: &Value) -> Value {
    let titled = |criterion: &Criterion| described(of_criterion.clone(), &criterion.title);
    match rubric.formula {
        Formula::SumOverMax => {
            object(rubric.criteria.iter().map(|one| (one.key.as_str(), titled(one))))
        }
        Formula::WeightedGroups => object(rubric.groups.iter().map(|group| {
            let criteria = rubric.criteria_of(&group.key);
            let criteria = object(criteria.map(|one| (one.key.as_str(), titled(one))));
            (group.key.as_str(), object([("sub_scores", criteria)]))
        })),
    }
}

fn text() -> Value {
    json!({"type": "string"})
}

fn texts() -> Value {
    json!({"type": "array", "items": text()})
}

fn one_of<'key>(keys: impl Iterator<Item = &'key str>) -> Value {
    json!({"type": "string", "enum": keys.collect::<Vec<_>>()})
}

fn score(rubric: &Rubric) -> Value {
    json!({"type": "integer", "minimum": rubric.scale.min, "maximum": rubric.scale.max})
}

fn described(mut schema: Value, title: &str) -> Value {
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("description".to_owned(), Value::String(title.to_owned()));
    }
    schema
}

fn object<'key>(properties: impl IntoIterator<Item = (&'key str, Value)>) -> Value {
    let properties: Map<String, Value> =
        properties.into_iter().map(|(key, schema)| (key.to_owned(), schema)).collect();
    let required: Vec<&String> = properties.keys().collect();
    json!({
        "type": "object",
        "required": required,
        "additionalProperties": false,
        "properties": properties,
    })
}

#[cfg(test)]
mod tests;
