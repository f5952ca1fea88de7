//! Ratings of people, by item and rater.
//!
//! They come from a JSONL or CSV file with one line for each item and rater, or from the items'
//! own `labels`.

mod file;

use super::whole_score::whole_score;
use crate::metrics::score_key;
use juror_types::{
    id::Digest,
    outcome::JobResult,
    rubric::{Formula, Rubric},
};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt::Display,
};

/// The ratings of a run's items by people.
#[derive(Clone, Debug)]
pub struct HumanLabels {
    /// The file's digest; `None` if they came with the items.
    pub digest: Option<Digest>,
    items: BTreeMap<String, Vec<Ratings>>,
    raters: BTreeSet<String>,
    ratings: u64,
}

/// The error of a label, with its place: a file with the line if known, or the labels of an item,
/// and the field.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct LabelError(String);

/// Scores that can be rated: the total score, followed by the criteria in the rubric's order.
#[derive(Clone, Debug)]
pub(super) struct Rateable<'a> {
    pub(super) rubric: &'a Rubric,
    keys: Vec<&'a str>,
}

/// Ratings of one item by one rater: the total score as a share, followed by the criteria in the
/// rubric's order.
type Ratings = Vec<Option<f64>>;

impl HumanLabels {
    /// Parses a file; `name` determines its format and names it in errors.
    pub fn read(name: &str, bytes: &[u8], rubric: &Rubric) -> Result<Self, LabelError> {
        let mut labels = Self::none(Some(Digest::from_content(bytes)));
        let mut first_lines = HashMap::new();
        for line in file::lines(name, bytes, &Rateable::for_rubric(rubric))? {
            let rater = line.rater.clone().unwrap_or_default();
            if let Some(first) = first_lines.insert((line.id.clone(), rater), line.number) {
                return Err(LabelError::new(line.place(name), line.rated_twice(first)));
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
                let value = rateable.json(place, value).map_err(|problem| {
                    LabelError::of_field(format!("the labels of item {id:?}"), field, problem)
                })?;
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
    pub(super) fn ratings_of_item(&self, id: &str) -> &[Ratings] {
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
    fn add(&mut self, rubric: &Rubric, id: String, mut values: Ratings) {
        if let [whole @ None, criteria @ ..] = values.as_mut_slice() {
            *whole = whole_score(rubric, criteria);
        }
        self.ratings += 1;
        self.items.entry(id).or_default().push(values);
    }
}

impl LabelError {
    fn new(place: impl Display, problem: impl Display) -> Self {
        Self(format!("{place}: {problem}"))
    }

    fn of_field(place: impl Display, field: &str, problem: impl Display) -> Self {
        Self(format!("{place}, field {field:?}: {problem}"))
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

    pub(super) fn nothing(&self) -> Ratings {
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
    pub(super) fn json(&self, place: usize, value: &Value) -> Result<Option<f64>, String> {
        match value {
            Value::Null => Ok(None),
            Value::Number(number) => self.on_scale(place, number.as_f64().unwrap_or(f64::NAN)),
            other => Err(not_a_number(other)),
        }
    }

    /// A rating from a CSV cell; an empty one is none.
    pub(super) fn text(&self, place: usize, text: &str) -> Result<Option<f64>, String> {
        match text.trim() {
            "" => Ok(None),
            text => self.on_scale(place, text.parse().map_err(|_| not_a_number(text))?),
        }
    }

    fn on_scale(&self, place: usize, number: f64) -> Result<Option<f64>, String> {
        let (least, most, unit) = match (place, self.rubric.formula) {
            (0, Formula::SumOverMax) => (0.0, 1.0, 1.0),
            (0, Formula::WeightedGroups) => (0.0, 100.0, 100.0),
            _ => (f64::from(self.rubric.scale.min), f64::from(self.rubric.scale.max), 1.0),
        };
        if !(least..=most).contains(&number) {
            return Err(format!("{number} is not on the scale of {least} to {most}"));
        }
        // −0 becomes 0, with which it is tied.
        Ok(Some(number / unit + 0.0))
    }
}

fn not_a_number(found: impl Display) -> String {
    format!("expected a number, found {found}")
}

#[cfg(test)]
mod tests;
