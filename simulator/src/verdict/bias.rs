//! Planted changes: scores that are moved up or down, as where a pipeline got better or worse.

use crate::verdict::Shape;
use serde_json::Value;
use std::str::FromStr;

/// Shift in points of every score of one criterion; written `visual_similarity=-2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bias {
    /// The criterion's key.
    pub criterion: String,
    /// Points, up or down. The ends of the scale hold.
    pub points: i64,
}

impl FromStr for Bias {
    type Err = InvalidBias;

    fn from_str(text: &str) -> Result<Self, InvalidBias> {
        let invalid = || InvalidBias(text.to_owned());
        let (criterion, points) = text.split_once('=').ok_or_else(invalid)?;
        let points = points.trim().parse().map_err(|_| invalid())?;
        let criterion = criterion.trim();
        if criterion.is_empty() {
            return Err(invalid());
        }
        Ok(Self { criterion: criterion.to_owned(), points })
    }
}

/// An invalid bias.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a bias: use CRITERION=POINTS in whole points, as in visual_similarity=-2")]
pub struct InvalidBias(String);

/// A criterion's score, moved by all biases of that criterion.
pub(crate) fn biased(
    biases: &[Bias],
    criterion: &str,
    score: i64,
    (least, most): (i64, i64),
) -> i64 {
    let own = biases.iter().filter(|bias| bias.criterion == criterion);
    let moved = own.fold(score, |score, bias| score.saturating_add(bias.points));
    moved.clamp(least, most.max(least))
}

/// Shifts the scores of a reply of this shape; its texts are unchanged.
pub(crate) fn apply_bias(biases: &[Bias], criterion: &str, shape: &Shape, reply: &mut Value) {
    match shape {
        Shape::Score { least, most } => {
            if let Some(score) = reply.as_i64() {
                *reply = biased(biases, criterion, score, (*least, *most)).into();
            }
        }
        Shape::Object(parts) => {
            for (name, shape) in parts {
                // A criterion's name is that of the object around its `score`.
                let about = if name == "score" { criterion } else { name };
                if let Some(part) = reply.get_mut(name) {
                    apply_bias(biases, about, shape, part);
                }
            }
        }
        Shape::Text | Shape::Statements | Shape::Findings(_) | Shape::Fixed(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn valid_bias_is_parsed_and_other_text_is_refused() {
        let bias: Bias = "visual_similarity=-2".parse().unwrap();
        assert_eq!(bias, Bias { criterion: "visual_similarity".into(), points: -2 });
        assert_eq!("tone=+3".parse::<Bias>().unwrap().points, 3);
        for bad in ["tone", "tone=", "=2", "tone=0.5", "tone=-2%"] {
            let message = bad.parse::<Bias>().unwrap_err().to_string();
            assert!(message.contains("CRITERION=POINTS"), "{message}");
        }
    }

    #[test]
    fn recorded_replies_are_biased_within_their_scale_at_any_score_position() {
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
        let biases = ["tone=-1", "depth=-4"].map(|text| text.parse().unwrap());
        apply_bias(&biases, "", &shape, &mut reply);
        let moved = json!({
            "scores": {"tone": {"score": 3, "rationale": "4"}, "depth": 1, "mood": 3},
            "issues": ["too dark"],
        });
        assert_eq!(reply, moved);
    }
}
