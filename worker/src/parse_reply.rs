//! Parsing of the judge's reply into a verdict. Pure: text in, verdict or error out.
//!
//! A reply is parsed strictly by the rubric's format: integers on the scale, every key present, no
//! duplicates. Further keys are ignored. A deviation is an error, and never a lower score.

mod answer;
mod fields;
mod last_object;

use crate::{
    lone_surrogates::replace_lone_surrogates,
    vision::{Completion, Finish},
};
use juror_types::{
    rubric::{AnswerError, ReplyVersion, Rubric, score},
    verdict::Verdict,
};
use last_object::last_object;

/// The longest reply that is read, in bytes: many times the output limits of rubrics.
const MAX_REPLY: usize = 256 * 1024;

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

#[cfg(test)]
mod tests;
