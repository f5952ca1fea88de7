//! Search for the JSON object of an answer in a reply.

use super::{
    ReplyError,
    fields::{Object, wrong_kind},
};
use juror_types::unique_fields::UniqueJson;
use serde_json::Value;

/// Maximum number of opening braces at which parsing is tried: reasoning about code has many, and a
/// hostile reply must not be parsed over and over again.
const MAX_OPENING_BRACES: usize = 20_000;

/// End of what a model thinks aloud.
const END_OF_THOUGHT: &str = "</think>";

/// The result of `interpret` for the last JSON object in a reply for which it succeeds: the whole
/// reply, or an object in a text around it, a Markdown fence included. Models that think aloud
/// write drafts before their reply, so the text before the end of a thought (`</think>`) is
/// ignored. If no object succeeds, the error is that of the last one.
pub(super) fn last_object<T>(
    reply: &str,
    interpret: impl Fn(&Object) -> Result<T, ReplyError>,
) -> Result<T, ReplyError> {
    match serde_json::from_str(reply) {
        Ok(UniqueJson(Value::Object(object))) => return interpret(&object),
        Ok(UniqueJson(other)) => return Err(wrong_kind("the answer", &other, "an object")),
        Err(_) => {}
    }
    let answer = reply.rsplit_once(END_OF_THOUGHT).map_or(reply, |(_, answer)| answer);
    let (mut found, mut last_error, mut first_problem) = (None, None, None);
    let mut rest = answer;
    for _ in 0..MAX_OPENING_BRACES {
        let Some(from_brace) = rest.find('{').and_then(|brace| rest.get(brace..)) else { break };
        let mut values = serde_json::Deserializer::from_str(from_brace).into_iter();
        let after = match values.next() {
            Some(Ok(UniqueJson(Value::Object(object)))) => {
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

fn not_json(problem: Option<serde_json::Error>) -> ReplyError {
    let problem =
        problem.map_or_else(|| "it contains no JSON object".to_owned(), |error| error.to_string());
    ReplyError::NotJson { problem }
}
