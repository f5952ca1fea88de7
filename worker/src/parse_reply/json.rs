//! JSON in which a repeated key is an error, and the search for it in prose.

use super::ReplyError;
use indexmap::{IndexMap, map::Entry};
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, SeqAccess, Visitor},
};
use std::fmt;

/// Maximum number of opening braces at which parsing is tried: reasoning about code has many, and a
/// hostile reply must not be parsed over and over again.
const MAX_OPENING_BRACES: usize = 20_000;

/// A JSON value. Numbers are kept as `f64`, which holds every whole number that a scale can.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(IndexMap<String, Json>),
}

impl Json {
    /// Name of the value's kind, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "true or false",
            Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

/// The result of `interpret` for the last JSON object in a reply for which it succeeds: the whole
/// reply, or an object in a text around it, a Markdown fence included. Models that think aloud
/// write drafts before their reply, so the text before the end of a thought (`</think>`) is
/// ignored. If no object succeeds, the error is that of the last one.
pub(super) fn last_object<T>(
    reply: &str,
    interpret: impl Fn(&IndexMap<String, Json>) -> Result<T, ReplyError>,
) -> Result<T, ReplyError> {
    match serde_json::from_str(reply) {
        Ok(Json::Object(object)) => return interpret(&object),
        Ok(other) => {
            return Err(ReplyError::WrongShape {
                place: "the answer".to_owned(),
                problem: format!("is {} and not an object", other.kind()),
            });
        }
        Err(_) => {}
    }
    let answer = reply.rsplit_once(END_OF_THOUGHT).map_or(reply, |(_, answer)| answer);
    let (mut found, mut last_error, mut first_problem) = (None, None, None);
    let mut rest = answer;
    for _ in 0..MAX_OPENING_BRACES {
        let Some(from_brace) = rest.find('{').and_then(|brace| rest.get(brace..)) else { break };
        let mut values = serde_json::Deserializer::from_str(from_brace).into_iter::<Json>();
        let after = match values.next() {
            Some(Ok(Json::Object(object))) => {
                match interpret(&object) {
                    Ok(value) => found = Some(value),
                    Err(error) => last_error = Some(error),
                }
                values.byte_offset()
            }
            Some(Err(error)) if error.is_eof() => return Err(ReplyError::IncompleteJson),
            Some(Err(error)) if error.is_data() => {
                let (place, problem) = ("the answer".to_owned(), error.to_string());
                return Err(ReplyError::WrongShape { place, problem });
            }
            Some(Err(error)) => {
                first_problem.get_or_insert(error);
                1
            }
            Some(Ok(_)) | None => 1,
        };
        rest = from_brace.get(after..).unwrap_or_default();
    }
    found.ok_or_else(|| last_error.unwrap_or_else(|| not_json(first_problem)))
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(entry) = entries.next_element()? {
            list.push(entry);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut object = IndexMap::new();
        while let Some(key) = entries.next_key::<String>()? {
            match object.entry(key) {
                Entry::Occupied(twice) => {
                    return Err(A::Error::custom(format_args!(
                        "the key {:?} occurs twice in one object",
                        twice.key()
                    )));
                }
                Entry::Vacant(place) => place.insert(entries.next_value()?),
            };
        }
        Ok(Json::Object(object))
    }
}

const END_OF_THOUGHT: &str = "</think>";

fn not_json(problem: Option<serde_json::Error>) -> ReplyError {
    let problem =
        problem.map_or_else(|| "it contains no JSON object".to_owned(), |error| error.to_string());
    ReplyError::NotJson { problem }
}
