//! From the judge's reply to a verdict. Pure: text in, verdict or error out.
//!
//! A reply is read by the rubric's form only: whole numbers on the scale, every key there, none
//! twice. Further keys are let pass. Whatever does not fit is an error, and never a lower score.

mod json;

use indexmap::IndexMap;
use json::{Json, last_object};
use juror_types::{
    rubric::{AnswerError, Formula, JudgeAnswer, Rubric, score},
    verdict::Verdict,
};

/// The longest reply that is read, in bytes; many times what the output limits of rubrics allow.
const MAX_REPLY: usize = 256 * 1024;
/// The longest statement, in characters; what is longer is cut and ends in an ellipsis.
const MAX_STATEMENT: usize = 2_000;
/// The most statements of one list; the judge names the weightiest first, later ones are dropped.
const MAX_STATEMENTS: usize = 100;

/// Why a reply cannot be used. The judge is asked again, a bounded number of times, and then the
/// job is unscorable; the kinds are told apart for whoever reads the result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplyError {
    /// There is no text.
    #[error("the judge's reply is empty")]
    Empty,
    /// The text is beyond every sensible length.
    #[error("the judge's reply has {bytes} bytes, more than the {MAX_REPLY} that are read")]
    TooLong {
        /// Its length in bytes.
        bytes: usize,
    },
    /// There is no JSON object in it.
    #[error("the judge's reply is not JSON: {problem}")]
    NotJson {
        /// What JSON misses, with line and column.
        problem: String,
    },
    /// The object does not end.
    #[error("the judge's reply breaks off inside its JSON; a higher output limit may help")]
    Truncated,
    /// Something is of another kind than asked for, or stands twice.
    #[error("the judge's reply has another form than asked for: {place} {problem}")]
    WrongShape {
        /// The place, as in `scores.layout_accuracy`.
        place: String,
        /// What is wrong there.
        problem: String,
    },
    /// A key is not there.
    #[error("the judge's reply lacks {place}")]
    Missing {
        /// The place, as in `scores.layout_accuracy`.
        place: String,
    },
    /// A score lies outside the scale.
    #[error("the judge's reply gives {place} {score}, outside the scale of {min} to {max}")]
    OutOfRange {
        /// The place, as in `scores.layout_accuracy`.
        place: String,
        /// What the judge said.
        score: String,
        /// The scale's worst score.
        min: u32,
        /// The scale's best score.
        max: u32,
    },
    /// A score is a fraction.
    #[error("the judge's reply gives {place} {score}, which is not a whole number")]
    NotWhole {
        /// The place, as in `scores.layout_accuracy`.
        place: String,
        /// What the judge said.
        score: String,
    },
}

/// Reads a reply by the rubric's form.
///
/// Scores are whole numbers: `8` and `8.0` are 8; `8.5`, `"8"`, one outside the scale and a missing
/// one are errors. The object may stand alone or in a text around it, such as a Markdown fence; the
/// last one that fits the rubric counts. Of statements and rationales, line breaks and other control characters become
/// spaces, empty ones are dropped, those above 2,000 characters are cut and end in `…`, and of a
/// list the first 100 count: they are shown to people and take no part in any score.
pub fn read(rubric: &Rubric, reply: &str) -> Result<Verdict, ReplyError> {
    let text = reply.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err(ReplyError::Empty);
    }
    if text.len() > MAX_REPLY {
        return Err(ReplyError::TooLong { bytes: text.len() });
    }
    last_object(text, |object| {
        let answer = match rubric.formula {
            Formula::SumOverMax => read_sum(rubric, object)?,
            Formula::WeightedGroups => read_groups(rubric, object)?,
        };
        score(rubric, answer).map_err(ReplyError::from)
    })
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

type Object = IndexMap<String, Json>;

fn read_sum(rubric: &Rubric, object: &Object) -> Result<JudgeAnswer, ReplyError> {
    let given = get_object(object, "scores", "scores")?;
    let mut scores = IndexMap::with_capacity(rubric.criteria.len());
    for criterion in &rubric.criteria {
        let place = format!("scores.{}", criterion.key);
        let score = get_score(rubric, given, &criterion.key, &place)?;
        scores.insert(criterion.key.clone(), (score, None));
    }
    Ok(JudgeAnswer {
        scores,
        issues: get_statements(object, "issues")?,
        strengths: get_statements(object, "strengths")?,
        ..JudgeAnswer::default()
    })
}

fn read_groups(rubric: &Rubric, object: &Object) -> Result<JudgeAnswer, ReplyError> {
    let groups = get_object(object, "scores", "scores")?;
    let mut scores = IndexMap::with_capacity(rubric.criteria.len());
    for group in &rubric.groups {
        let place = format!("scores.{}", group.key);
        let given = get_object(groups, &group.key, &place)?;
        let place = format!("{place}.sub_scores");
        let given = get_object(given, "sub_scores", &place)?;
        for criterion in rubric.criteria_of(&group.key) {
            let place = format!("{place}.{}", criterion.key);
            let given = get_object(given, &criterion.key, &place)?;
            let score = get_score(rubric, given, "score", &format!("{place}.score"))?;
            let rationale = get_text(given, "rationale", &format!("{place}.rationale"))?;
            scores.insert(criterion.key.clone(), (score, Some(rationale)));
        }
    }
    let overall_assessment = get_text(object, "overall_assessment", "overall_assessment")?;
    Ok(JudgeAnswer { scores, overall_assessment, ..JudgeAnswer::default() })
}

fn get<'json>(object: &'json Object, key: &str, place: &str) -> Result<&'json Json, ReplyError> {
    object.get(key).ok_or_else(|| ReplyError::Missing { place: place.to_owned() })
}

fn get_object<'json>(
    object: &'json Object,
    key: &str,
    place: &str,
) -> Result<&'json Object, ReplyError> {
    match get(object, key, place)? {
        Json::Object(object) => Ok(object),
        other => Err(wrong_kind(place, other, "an object")),
    }
}

fn get_text(object: &Object, key: &str, place: &str) -> Result<String, ReplyError> {
    match get(object, key, place)? {
        Json::Text(text) => Ok(statement(text)),
        other => Err(wrong_kind(place, other, "a text")),
    }
}

fn get_score(rubric: &Rubric, object: &Object, key: &str, place: &str) -> Result<u32, ReplyError> {
    let number = match get(object, key, place)? {
        Json::Number(number) => *number,
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
    // Whole and on the scale, so nothing is lost.
    Ok(number as u32)
}

fn get_statements(object: &Object, key: &str) -> Result<Vec<String>, ReplyError> {
    let Json::List(list) = get(object, key, key)? else {
        return Err(wrong_kind(key, get(object, key, key)?, "a list of texts"));
    };
    let mut statements = Vec::new();
    for entry in list {
        let Json::Text(text) = entry else {
            return Err(wrong_kind(&format!("an entry of {key}"), entry, "a text"));
        };
        statements.push(statement(text));
    }
    statements.retain(|statement| !statement.is_empty());
    statements.truncate(MAX_STATEMENTS);
    Ok(statements)
}

fn wrong_kind(place: &str, found: &Json, wanted: &str) -> ReplyError {
    let problem = format!("is {} and not {wanted}", found.kind());
    ReplyError::WrongShape { place: place.to_owned(), problem }
}

/// One line for people, which no terminal takes for a command.
fn statement(text: &str) -> String {
    let printable = |character: char| if character.is_control() { ' ' } else { character };
    let text: String = text.trim().chars().map(printable).collect();
    match text.char_indices().nth(MAX_STATEMENT) {
        None => text,
        Some((cut, _)) => format!("{}…", text.get(..cut).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests;
