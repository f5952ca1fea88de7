//! The form of the answer that a rubric asks for, as a JSON Schema.

use super::{Criterion, Formula, Rubric};
use serde_json::{Map, Value, json};

/// A strict JSON Schema of the judge's answer: every key required, no further ones, scores whole
/// and on the scale. It uses only what every provider's structured output takes.
///
/// `sum_over_max`: `{"scores":{criterion:integer},"issues":[text],"strengths":[text]}`.
/// `weighted_groups`: `{"scores":{group:{"sub_scores":{criterion:{"score":integer,
/// "rationale":text}}}},"overall_assessment":text}`. Keys stand in the rubric's order.
pub fn reply_schema(rubric: &Rubric) -> Value {
    match rubric.formula {
        Formula::SumOverMax => {
            let scores = rubric.criteria.iter().map(|criterion| {
                let mut score = score(rubric);
                describe(&mut score, criterion);
                (criterion.key.as_str(), score)
            });
            let statements = json!({"type": "array", "items": {"type": "string"}});
            object([
                ("scores", object(scores)),
                ("issues", statements.clone()),
                ("strengths", statements),
            ])
        }
        Formula::WeightedGroups => {
            let groups = rubric.groups.iter().map(|group| {
                let criteria = rubric.criteria_of(&group.key).map(|criterion| {
                    let mut sub_score = object([
                        ("score", score(rubric)),
                        ("rationale", json!({"type": "string"})),
                    ]);
                    describe(&mut sub_score, criterion);
                    (criterion.key.as_str(), sub_score)
                });
                (group.key.as_str(), object([("sub_scores", object(criteria))]))
            });
            object([("scores", object(groups)), ("overall_assessment", json!({"type": "string"}))])
        }
    }
}

fn score(rubric: &Rubric) -> Value {
    json!({"type": "integer", "minimum": rubric.scale.min, "maximum": rubric.scale.max})
}

fn describe(schema: &mut Value, criterion: &Criterion) {
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("description".to_owned(), Value::String(criterion.title.clone()));
    }
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
mod tests {
    use super::*;
    use crate::rubric::builtin;

    #[test]
    fn semantic_asks_for_scores_issues_and_strengths() {
        let schema = reply_schema(&builtin()[0].parse().unwrap());
        assert_eq!(schema["required"], json!(["scores", "issues", "strengths"]));
        assert_eq!(schema["additionalProperties"], json!(false));
        assert_eq!(
            schema["properties"]["scores"]["properties"]["layout_accuracy"],
            json!({"type": "integer", "minimum": 0, "maximum": 10, "description": "Layout accuracy"})
        );
        assert_eq!(schema["properties"]["scores"]["required"][0], json!("visual_similarity"));
    }

    #[test]
    fn acrue_asks_for_a_score_and_a_rationale_for_each_criterion() {
        let schema = reply_schema(&builtin()[1].parse().unwrap());
        assert_eq!(schema["required"], json!(["scores", "overall_assessment"]));
        let group = &schema["properties"]["scores"]["properties"]["exceptional_value"];
        let sub_scores = &group["properties"]["sub_scores"];
        assert_eq!(sub_scores["required"].as_array().unwrap().len(), 5);
        let sub_score = &sub_scores["properties"]["signature_details"];
        assert_eq!(sub_score["required"], json!(["score", "rationale"]));
        assert_eq!(sub_score["properties"]["score"]["maximum"], json!(5));
    }

    /// Strict structured output wants both of every object, at any depth.
    #[test]
    fn every_object_is_closed_and_requires_all_of_its_keys() {
        fn check(schema: &Value) {
            if schema["type"] == "object" {
                let keys: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
                assert_eq!(schema["required"], json!(keys));
                assert_eq!(schema["additionalProperties"], json!(false));
                schema["properties"].as_object().unwrap().values().for_each(check);
            }
        }
        for rubric in builtin() {
            check(&reply_schema(&rubric.parse().unwrap()));
        }
    }
}
