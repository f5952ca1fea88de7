//! Generated verdicts, deterministic for a request and in its requested shape.

pub(crate) mod bias;
mod findings;
mod known_rubrics;
mod shape;
mod vocabulary;

use crate::{
    random::Random,
    verdict::bias::{Bias, biased},
};
use serde_json::{Map, Value};
pub(crate) use shape::Shape;

/// Shape of the request's schema, else of the rubric whose keys its texts contain.
pub(crate) fn requested_shape(schema: Option<&Value>, texts: &[&str]) -> Shape {
    Shape::from_request(schema, texts).unwrap_or_else(|| known_rubrics::named_in(texts))
}

/// Generates a random reply of this shape. `seed` is that of the request; `noise` is the
/// probability that a score differs by one; `biases` apply last.
pub(crate) fn draw(
    shape: &Shape,
    seed: u64,
    noise: Option<(f64, Random)>,
    biases: &[Bias],
) -> Value {
    let mut random = Random::new(seed);
    let quality = match random.below(10) {
        0..5 => 0.85 + 0.15 * random.unit(),
        5..8 => 0.55 + 0.30 * random.unit(),
        _ => 0.15 + 0.40 * random.unit(),
    };
    Draw { random, quality, noise, biases, scored: Vec::new() }.value("", shape)
}

/// Criterion scored so far; statements and findings are made of it.
struct ScoredCriterion {
    key: String,
    /// 0 is the worst score, 1 the best.
    share: f64,
}

struct Draw<'a> {
    random: Random,
    quality: f64,
    noise: Option<(f64, Random)>,
    biases: &'a [Bias],
    scored: Vec<ScoredCriterion>,
}

impl Draw<'_> {
    fn value(&mut self, key: &str, shape: &Shape) -> Value {
        match shape {
            Shape::Score { least, most } => self.score(key, *least, *most).into(),
            Shape::Fixed(value) => value.clone(),
            Shape::Text => self.text(key).into(),
            Shape::Statements => self.statements(key).into(),
            Shape::Findings(words) => findings::draw(&mut self.random, words, &self.scored),
            Shape::Object(properties) => self.object(key, properties),
        }
    }

    /// Scores are generated first, regardless of their position, since statements refer to them.
    fn object(&mut self, key: &str, properties: &[(String, Shape)]) -> Value {
        let mut object: Map<String, Value> =
            properties.iter().map(|(name, _)| (name.clone(), Value::Null)).collect();
        for scores in [true, false] {
            for (name, shape) in properties.iter().filter(|(_, shape)| shape.scores() == scores) {
                // A criterion's name is that of the object around its `score`.
                let about = if name == "score" { key } else { name };
                let value = self.value(about, shape);
                object.insert(name.clone(), value);
            }
        }
        object.into()
    }

    fn score(&mut self, key: &str, least: i64, most: i64) -> i64 {
        let perfect = self.random.unit() < self.quality * self.quality;
        let spread = self.quality - 0.25 * self.random.unit();
        let share = if perfect { 1.0 } else { spread.clamp(0.0, 1.0) };
        let range = most.saturating_sub(least).max(0);
        let mut score = least.saturating_add((share * range as f64).round() as i64);
        if let Some((chance, random)) = &mut self.noise
            && random.unit() < *chance
        {
            let step = if random.below(2) == 0 { 1 } else { -1 };
            score = score.saturating_add(step).clamp(least, least.saturating_add(range));
        }
        score = biased(self.biases, key, score, (least, most));
        let share = score.saturating_sub(least) as f64 / (range as f64).max(1.0);
        self.scored.push(ScoredCriterion { key: key.to_owned(), share });
        score
    }

    fn text(&mut self, key: &str) -> String {
        let reasons = key.contains("rationale") || key == "why";
        if let (true, Some(criterion)) = (reasons, self.scored.last()) {
            return vocabulary::rationale(&mut self.random, &criterion.key, criterion.share);
        }
        let sum: f64 = self.scored.iter().map(|criterion| criterion.share).sum();
        vocabulary::summary(&mut self.random, sum / (self.scored.len() as f64).max(1.0))
    }

    fn statements(&mut self, key: &str) -> Vec<String> {
        if key == "suspected_instructions" {
            return Vec::new();
        }
        let praise = key.contains("strength");
        let random = &mut self.random;
        let chosen = self.scored.iter().filter(|criterion| (criterion.share > 0.95) == praise);
        let statement = |criterion: &ScoredCriterion| match praise {
            true => vocabulary::strength(random, &criterion.key),
            false => vocabulary::issue(random, &criterion.key),
        };
        chosen.map(statement).take(if praise { 3 } else { 4 }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn semantic() -> Shape {
        requested_shape(
            None,
            &["visual_similarity token_adherence variant_accuracy \
             feature_completeness layout_accuracy"],
        )
    }

    #[test]
    fn equal_requests_have_equal_verdicts_and_noise_changes_them_by_one() {
        let scores = |reply: &Value| -> Vec<i64> {
            let scores = reply["scores"].as_object().unwrap();
            scores.values().map(|score| score.as_i64().unwrap()).collect()
        };
        let mut changed = 0;
        for seed in 0..200 {
            let quiet = draw(&semantic(), seed, None, &[]);
            assert_eq!(quiet, draw(&semantic(), seed, None, &[]));
            let noisy = draw(&semantic(), seed, Some((0.5, Random::new(seed))), &[]);
            for (one, other) in scores(&quiet).into_iter().zip(scores(&noisy)) {
                assert!((0..=10).contains(&other) && (one - other).abs() <= 1);
                changed += i64::from(one != other);
            }
        }
        assert!(changed > 100, "{changed}");
    }

    #[test]
    fn scores_cover_the_scale_and_favor_its_upper_half() {
        let total = |seed| -> i64 {
            let reply = draw(&semantic(), seed, None, &[]);
            reply["scores"].as_object().unwrap().values().map(|score| score.as_i64().unwrap()).sum()
        };
        let totals: Vec<i64> = (0..1_000).map(total).collect();
        let mean = totals.iter().sum::<i64>() / 1_000;
        assert!((33..44).contains(&mean), "{mean}");
        assert!(totals.iter().any(|total| *total < 15) && totals.contains(&50));
    }

    #[test]
    fn bias_moves_only_its_criterion_and_the_statements_follow() {
        let bias = ["variant_accuracy=-3".parse().unwrap()];
        for seed in 0..50 {
            let (plain, moved) =
                (draw(&semantic(), seed, None, &[]), draw(&semantic(), seed, None, &bias));
            let scores = |reply: &Value| -> Vec<i64> {
                let scores = reply["scores"].as_object().unwrap();
                scores.values().map(|score| score.as_i64().unwrap()).collect()
            };
            let mut expected = scores(&plain);
            expected[2] = (expected[2] - 3).max(0);
            assert_eq!(scores(&moved), expected);
            assert!(!moved["issues"].as_array().unwrap().is_empty());
        }
    }

    #[test]
    fn statements_agree_with_the_scores() {
        for seed in 0..100 {
            let reply = draw(&semantic(), seed, None, &[]);
            let scores = reply["scores"].as_object().unwrap();
            let flawed = scores.values().filter(|score| **score != json!(10)).count();
            assert_eq!(reply["issues"].as_array().unwrap().len(), flawed.min(4), "{reply}");
            assert_eq!(reply["strengths"].as_array().unwrap().len(), (5 - flawed).min(3));
        }
    }
}
