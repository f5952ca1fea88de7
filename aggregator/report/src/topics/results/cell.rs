//! A cell of a result, and its text for people and for programs.

use juror_analysis::{
    format::{decimals, dollars, figure},
    metrics::Unit,
};
use juror_types::{outcome::Outcome, usage::Money};

/// A cell of a result. Its text is unsanitized.
#[derive(Clone, Debug, PartialEq)]
pub enum ResultCell {
    /// Id of an item, and the number of the repeat where there are several.
    Item(String, Option<u32>),
    /// Outcome of a job.
    Outcome(Outcome),
    /// A figure in its unit.
    Figure(f64, Unit),
    /// A mean of scores.
    Mean(f64),
    /// A count, or a score of a criterion.
    Count(u64),
    /// True for yes.
    Holds(bool),
    /// Time in milliseconds; people read seconds.
    Time(u64),
    /// Cost; people read dollars without their sign.
    Cost(Money),
    /// Grade of a score, and the score.
    Grade(String, f64),
    /// Text without further meaning.
    Text(String),
}

impl ResultCell {
    /// The text for people, rounded.
    pub fn text(&self) -> String {
        match self {
            Self::Item(id, None) => id.clone(),
            Self::Item(id, Some(repeat)) => format!("{id} ·{}", u64::from(*repeat) + 1),
            Self::Outcome(outcome) => outcome.label().to_owned(),
            Self::Figure(value, unit) => figure(*value, *unit),
            Self::Mean(value) => decimals(*value, 2),
            Self::Count(count) => count.to_string(),
            Self::Holds(true) => "yes".to_owned(),
            Self::Holds(false) => "no".to_owned(),
            Self::Time(milliseconds) => decimals(*milliseconds as f64 / 1000.0, 2),
            Self::Cost(cost) => dollars(*cost).trim_start_matches('$').to_owned(),
            Self::Grade(text, _) | Self::Text(text) => text.clone(),
        }
    }

    /// The text for programs, to the last digit.
    pub(crate) fn exact(self) -> String {
        match self {
            Self::Outcome(outcome) => outcome.name().to_owned(),
            Self::Figure(value, _) | Self::Mean(value) => value.to_string(),
            Self::Count(count) | Self::Time(count) => count.to_string(),
            Self::Holds(holds) => holds.to_string(),
            Self::Cost(cost) => cost.to_string(),
            Self::Item(text, _) | Self::Grade(text, _) | Self::Text(text) => text,
        }
    }

    /// The number by which it is ordered; `None` for a text.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Item(..) | Self::Text(_) => None,
            Self::Outcome(outcome) => Some(rank(*outcome)),
            Self::Figure(value, _) | Self::Mean(value) | Self::Grade(_, value) => Some(*value),
            Self::Count(count) | Self::Time(count) => Some(*count as f64),
            Self::Holds(holds) => Some(u8::from(*holds).into()),
            Self::Cost(cost) => Some(cost.pico() as f64),
        }
    }
}

/// Text of a cell for people; a dash without data.
pub fn text_of(cell: Option<&ResultCell>) -> String {
    cell.map_or_else(|| "–".to_owned(), ResultCell::text)
}

/// Place of an outcome in the order by it.
fn rank(outcome: Outcome) -> f64 {
    match outcome {
        Outcome::NoOutput => 0.0,
        Outcome::Failed => 1.0,
        Outcome::Unscorable => 2.0,
        Outcome::Scored => 3.0,
        Outcome::Skipped => 4.0,
    }
}
