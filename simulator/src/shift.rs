//! Planted changes: scores that are moved up or down, as where a pipeline got better or worse.

use crate::verdict::Shape;
use serde_json::Value;
use std::str::FromStr;

/// By how many points every score of one criterion is moved; written `visual_similarity=-2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shift {
    /// The criterion's key.
    pub criterion: String,
    /// Points, up or down. The ends of the scale hold.
    pub points: i64,
}

impl FromStr for Shift {
    type Err = InvalidShift;

    fn from_str(text: &str) -> Result<Self, InvalidShift> {
        let invalid = || InvalidShift(text.to_owned());
        let (criterion, points) = text.split_once('=').ok_or_else(invalid)?;
        let points = points.trim().parse().map_err(|_| invalid())?;
        let criterion = criterion.trim();
        if criterion.is_empty() {
            return Err(invalid());
        }
        Ok(Self { criterion: criterion.to_owned(), points })
    }
}

/// A shift that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no shift: write CRITERION=POINTS in whole points, as in visual_similarity=-2")]
pub struct InvalidShift(String);

/// A criterion's score, moved by all shifts of that criterion.
pub(crate) fn shifted(
    shifts: &[Shift],
    criterion: &str,
    score: i64,
    (least, most): (i64, i64),
) -> i64 {
    let own = shifts.iter().filter(|shift| shift.criterion == criterion);
    let moved = own.fold(score, |score, shift| score.saturating_add(shift.points));
    moved.clamp(least, most.max(least))
}

/// Moves the scores of a reply that has this shape; what it says in words stays.
pub(crate) fn shift_scores(shifts: &[Shift], criterion: &str, shape: &Shape, reply: &mut Value) {
    match shape {
        Shape::Score { least, most } => {
            if let Some(score) = reply.as_i64() {
                *reply = shifted(shifts, criterion, score, (*least, *most)).into();
            }
        }
        Shape::Object(parts) => {
            for (name, shape) in parts {
                // A criterion's name is that of the object around its `score`.
                let about = if name == "score" { criterion } else { name };
                if let Some(part) = reply.get_mut(name) {
                    shift_scores(shifts, about, shape, part);
                }
            }
        }
        Shape::Text | Shape::Statements | Shape::Fixed(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_shift_is_read_and_anything_else_is_not() {
        let shift: Shift = "visual_similarity=-2".parse().unwrap();
        assert_eq!(shift, Shift { criterion: "visual_similarity".into(), points: -2 });
        assert_eq!("tone=+3".parse::<Shift>().unwrap().points, 3);
        for bad in ["tone", "tone=", "=2", "tone=0.5", "tone=-2%"] {
            let message = bad.parse::<Shift>().unwrap_err().to_string();
            assert!(message.contains("CRITERION=POINTS"), "{message}");
        }
    }

    #[test]
    fn known_replies_are_moved_within_their_scale_wherever_the_score_stands() {
        let score = || Shape::Score { least: 1, most: 5 };
        let object = |parts: Vec<(&str, Shape)>| {
            Shape::Object(parts.into_iter().map(|(name, part)| (name.to_owned(), part)).collect())
        };
        let nested = object(vec![("score", score()), ("rationale", Shape::Text)]);
        let scores = object(vec![("tone", nested), ("depth", score()), ("mood", score())]);
        let shape = object(vec![("scores", scores), ("issues", Shape::Statements)]);
        let mut reply = json!({
            "scores": {"tone": {"score": 4, "rationale": "4"}, "depth": 2, "mood": 3},
            "issues": ["too dark"],
        });
        let shifts = ["tone=-1", "depth=-4"].map(|text| text.parse().unwrap());
        shift_scores(&shifts, "", &shape, &mut reply);
        let moved = json!({
            "scores": {"tone": {"score": 3, "rationale": "4"}, "depth": 1, "mood": 3},
            "issues": ["too dark"],
        });
        assert_eq!(reply, moved);
    }
}
