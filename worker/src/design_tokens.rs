//! Design tokens: reading, and comparison of an extraction with the expected ones.

pub use super::design_token_equality::equal;

use juror_types::item::Tokens;
use serde_json::{Map, Value};

/// Error of JSON that cannot be read as design tokens.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum InvalidTokens {
    /// JSON without design tokens.
    #[error("tokens must be a JSON object of names and values, or a list of such objects")]
    NotTokens,
    /// A name with two values, as it may be written nested and dotted.
    #[error("the token {0:?} occurs twice, with different values; remove or rename one")]
    Ambiguous(String),
}

/// Flattens nested tokens to dotted names; elements of lists are named by their index.
///
/// Token files of the Design Tokens Community Group are supported: an object with `$value` is one
/// token, and all other names with a leading `$` (`$type`, `$description`, ...) are metadata and
/// left out. A `$value` of number and unit (`{"value": 16, "unit": "px"}`) is one length, a color
/// object is its `hex`.
pub fn flatten(tokens: &Value) -> Result<Tokens, InvalidTokens> {
    if !matches!(tokens, Value::Object(_) | Value::Array(_)) {
        return Err(InvalidTokens::NotTokens);
    }
    let mut flat = Tokens::new();
    add(&mut flat, String::new(), tokens)?;
    Ok(flat)
}

/// Share of the expected tokens that were extracted with an equal value, 0 to 1. `None` if nothing
/// was expected.
pub fn accuracy(expected: &Tokens, extracted: &Tokens) -> Option<f64> {
    let found = expected
        .iter()
        .filter(|(name, value)| extracted.get(*name).is_some_and(|other| equal(value, other)))
        .count();
    (!expected.is_empty()).then(|| found as f64 / expected.len() as f64)
}

/// Adds a value and everything below it. Depth is bounded by the JSON reader, which refuses more
/// than 128 levels.
fn add(flat: &mut Tokens, name: String, value: &Value) -> Result<(), InvalidTokens> {
    match value {
        Value::Object(fields) => match fields.get("$value") {
            Some(value) => add(flat, name, &dtcg_scalar(value).unwrap_or_else(|| value.clone())),
            None => fields
                .iter()
                .filter(|(key, _)| !key.starts_with('$'))
                .try_for_each(|(key, value)| add(flat, join(&name, key), value)),
        },
        Value::Array(values) => values
            .iter()
            .enumerate()
            .try_for_each(|(position, value)| add(flat, join(&name, &position.to_string()), value)),
        scalar => match flat.insert(name.clone(), scalar.clone()) {
            Some(earlier) if !equal(&earlier, scalar) => Err(InvalidTokens::Ambiguous(name)),
            _ => Ok(()),
        },
    }
}

fn join(parent: &str, key: &str) -> String {
    if parent.is_empty() { key.to_owned() } else { format!("{parent}.{key}") }
}

/// Structured `$value` that represents one CSS value.
fn dtcg_scalar(value: &Value) -> Option<Value> {
    let fields: &Map<String, Value> = value.as_object()?;
    match (fields.get("value"), fields.get("unit"), fields.get("hex")) {
        (Some(Value::Number(number)), Some(Value::String(unit)), _) => {
            Some(Value::String(format!("{number}{unit}")))
        }
        (_, _, Some(hex @ Value::String(_))) if fields.contains_key("colorSpace") => {
            Some(hex.clone())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn flat(value: Value) -> Value {
        serde_json::to_value(flatten(&value).unwrap()).unwrap()
    }

    #[test]
    fn nested_tokens_become_dotted_names() {
        for (tokens, expected) in [
            (json!({"color.primary": "red"}), json!({"color.primary": "red"})),
            (json!({"color": {"primary": "red"}}), json!({"color.primary": "red"})),
            (json!({"space": [4, 8]}), json!({"space.0": 4, "space.1": 8})),
            (json!([{"a": 1}]), json!({"0.a": 1})),
            (json!({}), json!({})),
            (
                json!({"$schema": "x", "color": {"$type": "color", "primary":
                    {"$value": "#fff", "$type": "color", "$description": "d"}}}),
                json!({"color.primary": "#fff"}),
            ),
            (
                json!({"gap": {"$value": {"value": 16, "unit": "px"}, "$type": "dimension"}}),
                json!({"gap": "16px"}),
            ),
            (
                json!({"ink": {"$value": {"colorSpace": "srgb", "components": [0, 0, 0], "hex": "#000000"}}}),
                json!({"ink": "#000000"}),
            ),
            (
                json!({"shadow": {"$value": {"blur": "2px", "color": "red"}}}),
                json!({"shadow.blur": "2px", "shadow.color": "red"}),
            ),
        ] {
            assert_eq!(flat(tokens.clone()), expected, "{tokens}");
        }
        assert_eq!(flatten(&json!("red")), Err(InvalidTokens::NotTokens));
    }

    #[test]
    fn two_values_of_one_name_are_refused() {
        let twice = |second: &str| json!({"color.ink": "#000", "color": {"ink": second}});
        assert_eq!(flatten(&twice("#fff")), Err(InvalidTokens::Ambiguous("color.ink".into())));
        assert_eq!(flatten(&twice("black")).unwrap().len(), 1);
    }

    #[test]
    fn accuracy_is_the_share_of_expected_tokens_that_were_found() {
        let tokens = |value| flatten(&value).unwrap();
        let expected = tokens(json!({"a": "#fff", "b": 16, "c": "Inter", "d": true}));
        for (extracted, accuracy_expected) in [
            (json!({"a": "white", "b": "1rem", "c": "inter", "d": true, "e": 1}), 1.0),
            (json!({"a": "white", "b": "2rem"}), 0.25),
            (json!({}), 0.0),
        ] {
            assert_eq!(accuracy(&expected, &tokens(extracted)), Some(accuracy_expected));
        }
        assert_eq!(accuracy(&Tokens::new(), &expected), None);
    }
}
