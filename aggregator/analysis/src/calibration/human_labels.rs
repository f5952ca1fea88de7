//! Ratings of people, by item and rater.
//!
//! They come from a JSONL or CSV file with one line for each item and rater, or from the items'
//! own `labels`.

mod error;
mod file;

pub use error::{LabelError, LabelProblem};

use super::whole_score::whole_score;
use error::LabelPlace;
use juror_types::{
    id::Digest,
    outcome::JobResult,
    rubric::{Formula, Rubric},
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The ratings of a run's items by people.
#[derive(Clone, Debug)]
pub struct HumanLabels {
    /// The file's digest; none where they came with the items.
    pub digest: Option<Digest>,
    items: BTreeMap<String, Vec<Rating>>,
    raters: BTreeSet<String>,
    ratings: u64,
}

/// Rating of one item by one rater.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rating {
    /// Total score as a share, followed by the criteria in the rubric's order.
    pub(super) values: Vec<Option<f64>>,
}

/// Scores that can be rated: the total score, followed by the criteria in the rubric's order.
#[derive(Clone, Debug)]
pub(super) struct Rateable<'a> {
    pub(super) rubric: &'a Rubric,
    keys: Vec<&'a str>,
}

impl HumanLabels {
    /// Parses a file; `name` determines its format and names it in errors.
    pub fn read(name: &str, bytes: &[u8], rubric: &Rubric) -> Result<Self, LabelError> {
        let mut labels = Self::none(Some(Digest::from_content(bytes)));
        let mut first_lines = HashMap::new();
        for line in file::lines(name, bytes, &Rateable::for_rubric(rubric))? {
            let place = LabelPlace::line(name, line.number);
            let rater = line.rater.clone().unwrap_or_default();
            if let Some(first) = first_lines.insert((line.id.clone(), rater), line.number) {
                let problem = LabelProblem::RatedTwice { id: line.id, rater: line.rater, first };
                return Err(place.error(None, problem));
            }
            labels.raters.extend(line.rater);
            labels.add(rubric, line.id, line.values);
        }
        Ok(labels)
    }

    /// Ratings from the `labels` of items; entries that are not criteria are ignored.
    pub fn from_items<E: From<LabelError>>(
        rubric: &Rubric,
        results: impl Iterator<Item = Result<JobResult, E>>,
    ) -> Result<Self, E> {
        let rateable = Rateable::for_rubric(rubric);
        let mut labels = Self::none(None);
        for result in results {
            let result = result?;
            let id = result.screenshot_id;
            if labels.items.contains_key(&id) {
                continue;
            }
            let mut values = rateable.nothing();
            for (field, value) in &result.item.labels {
                let Some(place) = rateable.place(field) else { continue };
                let value = rateable.json(place, value);
                let value =
                    value.map_err(|problem| LabelPlace::item(&id).error(Some(field), problem))?;
                if let Some(known) = values.get_mut(place) {
                    *known = value;
                }
            }
            if values.iter().any(Option::is_some) {
                labels.add(rubric, id, values);
            }
        }
        Ok(labels)
    }

    /// True if there are no ratings.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Ids of the rated items.
    pub(super) fn items(&self) -> impl Iterator<Item = &str> {
        self.items.keys().map(String::as_str)
    }

    /// Ratings of an item.
    pub(super) fn ratings_of_item(&self, id: &str) -> &[Rating] {
        self.items.get(id).map_or(&[], Vec::as_slice)
    }

    /// Number of ratings, one for each item and rater.
    pub(super) fn ratings(&self) -> u64 {
        self.ratings
    }

    /// Number of named raters.
    pub(super) fn raters(&self) -> u64 {
        self.raters.len() as u64
    }

    fn none(digest: Option<Digest>) -> Self {
        Self { digest, items: BTreeMap::new(), raters: BTreeSet::new(), ratings: 0 }
    }

    /// Adds an item's labels. If every criterion is rated and the total score is not, it is
    /// computed.
    fn add(&mut self, rubric: &Rubric, id: String, mut values: Vec<Option<f64>>) {
        if let [whole @ None, criteria @ ..] = values.as_mut_slice() {
            *whole = whole_score(rubric, criteria);
        }
        self.ratings += 1;
        self.items.entry(id).or_default().push(Rating { values });
    }
}

impl<'a> Rateable<'a> {
    pub(super) fn for_rubric(rubric: &'a Rubric) -> Self {
        let criteria = rubric.criteria.iter().map(|criterion| criterion.key.as_str());
        let mut keys = vec![score_key(rubric)];
        // A criterion of the score's own name would hide it.
        keys.extend(criteria);
        Self { rubric, keys }
    }

    pub(super) fn nothing(&self) -> Vec<Option<f64>> {
        vec![None; self.keys.len()]
    }

    /// Index of the rating of this name; criteria precede the total score.
    pub(super) fn place(&self, field: &str) -> Option<usize> {
        self.keys.iter().rposition(|key| *key == field)
    }

    /// All names, for messages.
    pub(super) fn names(&self) -> String {
        self.keys.join(", ")
    }

    /// A rating from JSON; null is none.
    pub(super) fn json(&self, place: usize, value: &Value) -> Result<Option<f64>, LabelProblem> {
        match value {
            Value::Null => Ok(None),
            Value::Number(number) => self.on_scale(place, number.as_f64()),
            other => Err(LabelProblem::NotANumber { found: other.to_string() }),
        }
    }

    /// A rating from a CSV cell; an empty one is none.
    pub(super) fn text(&self, place: usize, text: &str) -> Result<Option<f64>, LabelProblem> {
        match text.trim() {
            "" => Ok(None),
            text => match text.parse::<f64>() {
                Ok(number) => self.on_scale(place, Some(number)),
                Err(_) => Err(LabelProblem::NotANumber { found: text.to_owned() }),
            },
        }
    }

    fn on_scale(&self, place: usize, number: Option<f64>) -> Result<Option<f64>, LabelProblem> {
        let number = number.unwrap_or(f64::NAN);
        let (least, most, unit) = match (place, self.rubric.formula) {
            (0, Formula::SumOverMax) => (0.0, 1.0, 1.0),
            (0, Formula::WeightedGroups) => (0.0, 100.0, 100.0),
            _ => (f64::from(self.rubric.scale.min), f64::from(self.rubric.scale.max), 1.0),
        };
        if !(least..=most).contains(&number) {
            return Err(LabelProblem::OffScale { found: number, least, most });
        }
        // −0 becomes 0, with which it is tied.
        Ok(Some(number / unit + 0.0))
    }
}

/// Name of the rubric's total score.
pub fn score_key(rubric: &Rubric) -> &'static str {
    match rubric.formula {
        Formula::SumOverMax => "semantic_correctness",
        Formula::WeightedGroups => "percentage",
    }
}

#[cfg(test)]
mod tests;
