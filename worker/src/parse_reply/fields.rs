//! Reading of single fields, with errors that name the place.

use super::ReplyError;
use juror_types::rubric::Rubric;
use serde_json::{Map, Value};

/// The longest statement, in characters; longer ones are truncated and end in an ellipsis.
const MAX_STATEMENT: usize = 2_000;
/// Maximum number of statements of one list; the judge names the most important first, and later
/// ones are dropped.
pub(super) const MAX_STATEMENTS: usize = 100;

pub(super) type Object = Map<String, Value>;

pub(super) fn get_object<'json>(
    object: &'json Object,
    key: &str,
    place: &str,
) -> Result<&'json Object, ReplyError> {
    match get(object, key, place)? {
        Value::Object(object) => Ok(object),
        other => Err(wrong_kind(place, other, "an object")),
    }
}

pub(super) fn get_text(object: &Object, key: &str, place: &str) -> Result<String, ReplyError> {
    as_text(get(object, key, place)?, place)
}

pub(super) fn as_text(value: &Value, place: &str) -> Result<String, ReplyError> {
    match value {
        Value::String(text) => Ok(statement(text)),
        other => Err(wrong_kind(place, other, "a text")),
    }
}

pub(super) fn get_score(
    rubric: &Rubric,
    object: &Object,
    key: &str,
    place: &str,
) -> Result<u32, ReplyError> {
    let number = match get(object, key, place)? {
        Value::Number(number) => number.as_f64().unwrap_or(f64::NAN),
        other => return Err(wrong_kind(place, other, "a whole number")),
    };
    let (place, score) = (place.to_owned(), number.to_string());
    let (min, max) = (rubric.scale.min, rubric.scale.max);
    if number.fract() != 0.0 {
        return Err(ReplyError::NotWhole { place, score });
    }
    if number < f64::from(min) || number > f64::from(max) {
        return Err(ReplyError::OutOfRange { place, score, min, max });
    }
    // The number is whole and within the scale, so the cast is exact.
    Ok(number as u32)
}

pub(super) fn get_list<'json>(
    object: &'json Object,
    key: &str,
    place: &str,
) -> Result<&'json [Value], ReplyError> {
    match get(object, key, place)? {
        Value::Array(list) => Ok(list),
        other => Err(wrong_kind(place, other, "a list")),
    }
}

/// The list's texts without the empty ones, at most [`MAX_STATEMENTS`].
pub(super) fn get_statements(object: &Object, key: &str) -> Result<Vec<String>, ReplyError> {
    let mut statements = Vec::new();
    for entry in get_list(object, key, key)? {
        statements.push(as_text(entry, &format!("an entry of {key}"))?);
    }
    statements.retain(|statement| !statement.is_empty());
    statements.truncate(MAX_STATEMENTS);
    Ok(statements)
}

pub(super) fn wrong_kind(place: &str, found: &Value, wanted: &str) -> ReplyError {
    let found = match found {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    let problem = format!("is {found} and not {wanted}");
    ReplyError::WrongShape { place: place.to_owned(), problem }
}

fn get<'json>(object: &'json Object, key: &str, place: &str) -> Result<&'json Value, ReplyError> {
    object.get(key).ok_or_else(|| ReplyError::Missing { place: place.to_owned() })
}

/// A statement as one line without control characters.
fn statement(text: &str) -> String {
    let printable = |character: char| if character.is_control() { ' ' } else { character };
    let text: String = text.trim().chars().map(printable).collect();
    match text.char_indices().nth(MAX_STATEMENT) {
        None => text,
        Some((cut, _)) => format!("{}…", text.get(..cut).unwrap_or_default()),
    }
}
