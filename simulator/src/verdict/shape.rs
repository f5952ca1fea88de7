//! Shape of a reply: from the request's schema, else from the format in the prompt.

use serde_json::{Map, Value};

/// Parts of a reply.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    /// A whole number.
    Score { least: i64, most: i64 },
    /// A sentence or two.
    Text,
    /// A list of sentences.
    Statements,
    /// A list of findings, each with words from these lists.
    Findings(FindingWords),
    /// Something that the simulator has no opinion on.
    Fixed(Value),
    /// Named parts, in order.
    Object(Vec<(String, Shape)>),
}

/// The closed lists of a finding's schema.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FindingWords {
    pub(crate) kinds: Vec<String>,
    pub(crate) elements: Vec<String>,
    /// True if each finding has the number of a region.
    pub(crate) has_region: bool,
}

impl Shape {
    /// The shape that a request states: its schema's, else that of a schema or an example in its
    /// texts; `None` if it states none.
    pub(crate) fn from_request(schema: Option<&Value>, texts: &[&str]) -> Option<Self> {
        match schema {
            Some(schema) => Some(Self::from_schema(schema)),
            None => texts.iter().rev().find_map(|text| shown_in(text)),
        }
    }

    /// The shape of a JSON Schema.
    pub(crate) fn from_schema(schema: &Value) -> Self {
        from_schema(schema, schema, 0)
    }

    /// Fits a recorded reply into this shape: every part present, and every score within its scale.
    /// Records are of version 2, and also serve version 1, which has the bare score for its object,
    /// and the findings' statements as issues.
    pub(crate) fn fit(&self, reply: &Value) -> Option<Value> {
        match self {
            Self::Score { least, most } => {
                let score = reply.get("score").unwrap_or(reply);
                score.as_i64().filter(|score| (*least..=*most).contains(score)).map(Value::from)
            }
            Self::Text => reply.is_string().then(|| reply.clone()),
            Self::Statements => reply.is_array().then(|| reply.clone()),
            Self::Findings(words) => {
                let fit = |finding: &Value| with_region(finding.clone(), words.has_region);
                Some(reply.as_array()?.iter().map(fit).collect())
            }
            Self::Fixed(_) => Some(reply.clone()),
            Self::Object(parts) => {
                let part = |(name, shape): &(String, Self)| {
                    let found = match reply.get(name) {
                        Some(found) => shape.fit(found)?,
                        None if name == "issues" => statements(reply.get("findings")?)?,
                        None => return None,
                    };
                    Some((name.clone(), found))
                };
                parts.iter().map(part).collect::<Option<Map<_, _>>>().map(Value::Object)
            }
        }
    }

    /// True if any part is a score.
    pub(crate) fn scores(&self) -> bool {
        match self {
            Self::Score { .. } => true,
            Self::Object(properties) => properties.iter().any(|(_, shape)| shape.scores()),
            Self::Text | Self::Statements | Self::Findings(_) | Self::Fixed(_) => false,
        }
    }
}

/// A finding with the number of its region, 0 where its record has none, or without one.
fn with_region(mut finding: Value, has_region: bool) -> Value {
    if let Some(parts) = finding.as_object_mut() {
        match has_region {
            true => _ = parts.entry("region").or_insert_with(|| 0.into()),
            false => _ = parts.remove("region"),
        }
    }
    finding
}

/// Statements of findings.
fn statements(findings: &Value) -> Option<Value> {
    findings.as_array()?.iter().map(|finding| finding.get("statement").cloned()).collect()
}

/// Scale for schemas that state none: a range that lies within every usual scale.
const SAFE_SCALE: Shape = Shape::Score { least: 1, most: 5 };

/// Deeper schemas are cut off, so that one that refers to itself ends.
const DEEPEST: usize = 16;

fn from_schema(schema: &Value, root: &Value, depth: usize) -> Shape {
    if depth > DEEPEST {
        return Shape::Fixed(Value::Null);
    }
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let target = reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        return target.map_or(Shape::Text, |target| from_schema(target, root, depth + 1));
    }
    if let Some(fixed) = schema.get("const") {
        return Shape::Fixed(fixed.clone());
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return of_values(values);
    }
    for choice in ["anyOf", "oneOf", "allOf"] {
        if let Some(first) = schema.get(choice).and_then(|choices| choices.get(0)) {
            return from_schema(first, root, depth + 1);
        }
    }
    match kind(schema) {
        Some("integer" | "number") => of_number(schema),
        Some("array") => of_array(schema),
        Some("boolean") => Shape::Fixed(true.into()),
        Some("null") => Shape::Fixed(Value::Null),
        Some("string") => Shape::Text,
        _ => {
            let properties = schema.get("properties").and_then(Value::as_object);
            let part = |(name, part): (&String, &Value)| {
                (name.clone(), from_schema(part, root, depth + 1))
            };
            Shape::Object(properties.into_iter().flatten().map(part).collect())
        }
    }
}

/// A list of findings is known by the kinds that its schema enumerates.
fn of_array(schema: &Value) -> Shape {
    let words = |key: &str| {
        let list = schema.pointer(&format!("/items/properties/{key}/enum"))?.as_array()?;
        Some(list.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    };
    match (words("kind"), words("element")) {
        (Some(kinds), Some(elements)) => {
            let has_region = schema.pointer("/items/properties/region").is_some();
            Shape::Findings(FindingWords { kinds, elements, has_region })
        }
        _ => Shape::Statements,
    }
}

fn kind(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        one => one.as_str(),
    }
}

fn of_values(values: &[Value]) -> Shape {
    let numbers = values.iter().filter_map(Value::as_i64);
    match (numbers.clone().min(), numbers.clone().max()) {
        (Some(least), Some(most)) if numbers.count() == values.len() => {
            Shape::Score { least, most }
        }
        _ => Shape::Fixed(values.first().cloned().unwrap_or_default()),
    }
}

fn of_number(schema: &Value) -> Shape {
    let bound = |name| schema.get(name).and_then(Value::as_f64).map(|bound| bound as i64);
    match (bound("minimum"), bound("maximum")) {
        (Some(least), Some(most)) => Shape::Score { least, most },
        _ => {
            let described = schema.get("description").and_then(Value::as_str);
            described.and_then(range).unwrap_or(SAFE_SCALE)
        }
    }
}

/// A schema or an example of the reply in a text: the last object there that has `scores`.
fn shown_in(text: &str) -> Option<Shape> {
    let starts = text.match_indices('{').map(|(position, _)| position);
    let candidates = starts.filter(|position| {
        let after = text.get(position + 1..).unwrap_or_default().trim_start();
        after.starts_with('"')
    });
    candidates.take(MAX_CANDIDATES).find_map(|position| {
        let rest = text.get(position..)?;
        let value = serde_json::Deserializer::from_str(rest).into_iter::<Value>().next()?.ok()?;
        if value.pointer("/properties/scores").is_some() {
            return Some(Shape::from_schema(&value));
        }
        value.get("scores").is_some().then(|| from_example("", &value, false))
    })
}

const MAX_CANDIDATES: usize = 200;

fn from_example(key: &str, example: &Value, among_scores: bool) -> Shape {
    match example {
        Value::Object(properties) => {
            let part = |(name, part): (&String, &Value)| {
                let among_scores = among_scores || name == "scores";
                (name.clone(), from_example(name, part, among_scores))
            };
            Shape::Object(properties.iter().map(part).collect())
        }
        Value::Array(_) => Shape::Statements,
        Value::String(text) if among_scores && key != "rationale" => {
            range(text).unwrap_or(SAFE_SCALE)
        }
        Value::Number(_) => SAFE_SCALE,
        Value::String(_) | Value::Null | Value::Bool(_) => Shape::Text,
    }
}

/// The first two numbers of a text like `0-10` or `a whole number from 1 to 5`.
fn range(text: &str) -> Option<Shape> {
    let mut numbers = text.split(|character: char| !character.is_ascii_digit());
    let mut next = || numbers.find_map(|digits| digits.parse::<i64>().ok());
    let (least, most) = (next()?, next()?);
    (least < most).then_some(Shape::Score { least, most })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn score(least: i64, most: i64) -> Shape {
        Shape::Score { least, most }
    }

    fn object<const N: usize>(parts: [(&str, Shape); N]) -> Shape {
        Shape::Object(parts.map(|(name, shape)| (name.to_owned(), shape)).into())
    }

    #[test]
    fn schema_gives_every_part() {
        let schema = json!({
            "type": "object",
            "$defs": {"level": {"type": "integer", "enum": [1, 2, 3]}},
            "properties": {
                "scores": {"type": "object", "properties": {
                    "depth": {"type": "integer", "minimum": 0, "maximum": 10},
                    "tone": {"$ref": "#/$defs/level"},
                    "mood": {"type": "integer", "description": "from 2 to 7"},
                    "rest": {"type": ["null", "integer"]},
                }},
                "issues": {"type": "array", "items": {"type": "string"}},
                "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            },
        });
        let scores = object([
            ("depth", score(0, 10)),
            ("tone", score(1, 3)),
            ("mood", score(2, 7)),
            ("rest", score(1, 5)),
        ]);
        let expected =
            object([("scores", scores), ("issues", Shape::Statements), ("note", Shape::Text)]);
        assert_eq!(Shape::from_request(Some(&schema), &[]).as_ref(), Some(&expected));
        let in_text = format!("Answer by this schema:\n```json\n{schema:#}\n```\nand nothing else");
        assert_eq!(Shape::from_request(None, &["{\"a\":1}", &in_text]), Some(expected));
    }

    #[test]
    fn recursive_schema_terminates() {
        let schema = json!({"type": "object", "properties": {"scores": {"$ref": "#"}}});
        assert!(!Shape::from_request(Some(&schema), &[]).unwrap().scores());
    }

    #[test]
    fn example_gives_the_shape() {
        let prompt = "Code: { x: 1 }. Answer like {\"scores\": {\"depth\": \"<0-10>\", \
            \"tone\": {\"score\": 3, \"rationale\": \"why\"}}, \"issues\": [\"…\"]} only.";
        let tone = object([("score", score(1, 5)), ("rationale", Shape::Text)]);
        let expected = object([
            ("scores", object([("depth", score(0, 10)), ("tone", tone)])),
            ("issues", Shape::Statements),
        ]);
        assert_eq!(Shape::from_request(None, &[prompt]), Some(expected));
    }
}
