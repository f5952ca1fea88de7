//! Parsing of the judge's reply into a verdict. Pure: text in, verdict or error out.
//!
//! A reply is parsed strictly by the rubric's format: integers on the scale, every key present, no
//! duplicates. Further keys are ignored. A deviation is an error, and never a lower score.

mod answer;
mod fields;

use crate::{
    lone_surrogates::replace_lone_surrogates,
    vision::{Completion, Finish},
};
use fields::{Object, wrong_kind};
use juror_types::{
    rubric::{AnswerError, ReplyVersion, Rubric, score},
    unique_fields::UniqueJson,
    verdict::Verdict,
};
use serde_json::Value;

/// The longest reply that is read, in bytes: many times the output limits of rubrics.
const MAX_REPLY: usize = 256 * 1024;

/// Maximum number of opening braces at which parsing is tried: reasoning about code has many, and a
/// hostile reply must not be parsed over and over again.
const MAX_OPENING_BRACES: usize = 20_000;

/// End of what a model thinks aloud.
const END_OF_THOUGHT: &str = "</think>";

/// Error of an unusable reply. The judge is called again, a bounded number of times, and then the
/// job is unscorable; the result records the kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplyError {
    #[error("the judge's reply is empty")]
    Empty,
    #[error("the judge's reply has {bytes} bytes, more than the {MAX_REPLY} that are read")]
    TooLong { bytes: usize },
    #[error("the judge's reply is not JSON: {problem}")]
    NotJson {
        /// The parser's problem, with line and column.
        problem: String,
    },
    #[error("the judge's reply breaks off inside its JSON; a higher output limit may help")]
    IncompleteJson,
    /// A value has another type than required, or a key is repeated.
    #[error("the judge's reply does not match the requested form: {place} {problem}")]
    WrongShape {
        /// The place, as in `scores.layout_accuracy`.
        place: String,
        problem: String,
    },
    #[error("the judge's reply lacks {place}")]
    Missing { place: String },
    #[error("the judge's reply gives {place} {score}, outside the scale of {min} to {max}")]
    OutOfRange { place: String, score: String, min: u32, max: u32 },
    #[error("the judge's reply gives {place} {score}, which is not a whole number")]
    NotWhole { place: String, score: String },
}

impl From<AnswerError> for ReplyError {
    fn from(error: AnswerError) -> Self {
        match error {
            AnswerError::Missing { key } => Self::Missing { place: key },
            AnswerError::OutOfRange { key, score, min, max } => {
                Self::OutOfRange { place: key, score: score.to_string(), min, max }
            }
        }
    }
}

/// The text to read a verdict from, or the reason why a reply has none. A truncated reply is rejected
/// even if it parses.
pub fn reply_text(answer: &Completion) -> Result<&str, String> {
    match (&answer.refusal, answer.finish, &answer.content) {
        (Some(refusal), _, _) => Err(format!("the judge refused to answer: {refusal}")),
        (None, Finish::Length, _) => {
            Err("the reply was truncated at the output limit; raise judge.max_output_tokens"
                .to_owned())
        }
        (None, Finish::ContentFilter, _) => {
            Err("the provider's content filter withheld the reply".to_owned())
        }
        (None, _, None) => Err("the reply has no content".to_owned()),
        (None, _, Some(content)) => Ok(content),
    }
}

/// Reads a reply by the rubric's form.
///
/// Scores are whole numbers: `8` and `8.0` are 8; `8.5`, `"8"`, one outside the scale and a missing
/// one are errors. The object may stand alone or in a text around it, such as a Markdown fence; the
/// last one that fits the rubric counts. Of statements and rationales, line breaks and other
/// control characters become spaces, empty ones are dropped, those above 2,000 characters are cut
/// and end in `…`, and of a list the first 100 count: they are shown to people and take no part in
/// any score.
///
/// A kind or an element that the rubric's vocabulary lacks, which only a server that does not hold
/// to the schema can send, becomes `other`, with its word kept; unknown criteria are left out.
pub fn read(rubric: &Rubric, reply: &str) -> Result<Verdict, ReplyError> {
    let text = reply.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err(ReplyError::Empty);
    }
    if text.len() > MAX_REPLY {
        return Err(ReplyError::TooLong { bytes: text.len() });
    }
    let json = replace_lone_surrogates(text.as_bytes());
    last_object(&String::from_utf8_lossy(&json), |object| {
        let answer = match rubric.reply {
            ReplyVersion::One => answer::read_version_one(rubric, object)?,
            ReplyVersion::Two => answer::read_version_two(rubric, object)?,
        };
        score(rubric, answer).map_err(ReplyError::from)
    })
}

/// The result of `interpret` for the last JSON object in a reply for which it succeeds: the whole
/// reply, or an object in a text around it, a Markdown fence included. Models that think aloud
/// write drafts before their reply, so the text before the end of a thought (`</think>`) is
/// ignored. If no object succeeds, the error is that of the last one.
fn last_object<T>(
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

#[cfg(test)]
mod tests;
