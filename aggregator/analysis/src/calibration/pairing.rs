//! Pairing of the judge's and the people's scores of each item.

use super::{agreement::Paired, human_labels::HumanLabels};
use crate::{
    cluster_names::ClusterNames,
    metrics::{Sums, score_of},
};
use juror_types::{outcome::JobResult, rubric::Rubric};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Overlap of labels and scores.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelCoverage {
    /// Items of the run with a score.
    pub scored_items: u64,
    /// Items with a label, including unknown ones.
    pub labelled_items: u64,
    /// Items that have both a judge's score and a person's rating, the basis of every figure.
    pub paired_items: u64,
    /// Labeled items of the run without a score of its judge, by id.
    pub not_scored: Vec<String>,
    /// Labeled ids that are not in the run.
    pub unknown: Vec<String>,
}

/// One compared column: the total score or one criterion.
#[derive(Clone, Debug, Default)]
pub(super) struct RatedColumn {
    /// Items that have both a judge's score and a person's rating.
    pub(super) paired: Paired,
    /// Ratings of such an item, by rater.
    pub(super) ratings: Vec<Vec<f64>>,
}

/// Pairs results sorted by item; repeats of an item are averaged, and so are its raters.
pub(super) struct Pairing<'a> {
    rubric: &'a Rubric,
    labels: &'a HumanLabels,
    columns: Vec<RatedColumn>,
    clusters: ClusterNames,
    seen: HashSet<String>,
    coverage: LabelCoverage,
}

impl<'a> Pairing<'a> {
    pub(super) fn new(rubric: &'a Rubric, labels: &'a HumanLabels) -> Self {
        Self {
            rubric,
            labels,
            columns: vec![RatedColumn::default(); rubric.criteria.len() + 1],
            clusters: ClusterNames::default(),
            seen: HashSet::new(),
            coverage: LabelCoverage::default(),
        }
    }

    /// Adds the results of an item.
    pub(super) fn add(&mut self, results: &[JobResult]) {
        let Some(JobResult { screenshot_id: id, item, .. }) = results.first() else { return };
        let cluster = item.cluster.as_ref().map(|name| self.clusters.number_of(name));
        let sums = self.score_sums(results);
        let is_scored = sums.iter().any(|sums| sums.count > 0.0);
        self.coverage.scored_items += u64::from(is_scored);
        let ratings = self.labels.ratings_of_item(id);
        if ratings.is_empty() {
            return;
        }
        let mut is_paired = false;
        for (place, (column, sums)) in self.columns.iter_mut().zip(sums).enumerate() {
            let values = ratings.iter().filter_map(|rating| *rating.get(place)?);
            let values: Vec<f64> = values.collect();
            let Some(judge) = sums.mean().filter(|_| !values.is_empty()) else { continue };
            let people = values.iter().sum::<f64>() / values.len() as f64;
            column.paired.add(judge, people, cluster);
            column.ratings.push(values);
            is_paired = true;
        }
        self.coverage.paired_items += u64::from(is_paired);
        if !is_scored {
            self.coverage.not_scored.push(id.clone());
        }
        self.seen.insert(id.clone());
    }

    /// The scores of each column over an item's repeats.
    fn score_sums(&self, results: &[JobResult]) -> Vec<Sums> {
        let mut sums = vec![Sums::default(); self.columns.len()];
        // Another model's scores say nothing of the judge that is calibrated.
        let is_judges = |result: &&JobResult| {
            result.judge.as_ref().is_none_or(|judge| judge.answered_by.is_none())
        };
        for verdict in results.iter().filter(is_judges).filter_map(JobResult::verdict) {
            let criteria = self.rubric.criteria.iter();
            let points = criteria.map(|criterion| score_of(verdict, &criterion.key).map(f64::from));
            let values = std::iter::once(Some(verdict.correctness())).chain(points);
            for (sums, value) in sums.iter_mut().zip(values) {
                value.into_iter().for_each(|value| sums.add(value));
            }
        }
        sums
    }

    /// Total score and criteria, and the overlap of labels and scores.
    pub(super) fn finish(mut self) -> (RatedColumn, Vec<RatedColumn>, LabelCoverage) {
        let unknown = self.labels.items().filter(|id| !self.seen.contains(*id));
        self.coverage.unknown = unknown.map(str::to_owned).collect();
        self.coverage.labelled_items = self.labels.items().count() as u64;
        let mut columns = self.columns.into_iter();
        (columns.next().unwrap_or_default(), columns.collect(), self.coverage)
    }
}
