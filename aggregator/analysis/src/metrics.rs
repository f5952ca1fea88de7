//! A run's metrics: means and rates with 95 % intervals. Pure.
//!
//! A value belongs to an item: repeats of an item are averaged first, and intervals take items of
//! one cluster together. The judge's metrics are over scored jobs; see [`AveragingPolicy`]. Those
//! of the deterministic stages are over every result with data for them.

mod definition;
mod interval;
mod overall;
mod policy;
mod sample;

pub(crate) use definition::needs_evidence;
pub use definition::{MetricDefinition, Provenance, Unit, score_key, score_of, title_of};
pub use interval::{Interval, LOOKS_CONFIDENCE, MeanEstimate};

pub use policy::AveragingPolicy;
pub use sample::Sample;

pub(crate) use interval::round_stable;
pub(crate) use overall::overall;
pub(crate) use sample::{Moments, Sums};

use crate::cluster_names::ClusterNames;
use indexmap::IndexMap;
use juror_types::{
    outcome::{JobResult, Outcome},
    rubric::{Formula, Rubric},
    run::RunRecord,
    verdict::{Score, Verdict},
};

/// A metric of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Definition of the metric.
    pub definition: MetricDefinition,
    /// Figure; `None` without data.
    pub value: Option<f64>,
    /// 95 % interval of the value.
    pub interval: Interval,
    /// Distribution of the verdicts, for a rate of perfect scores.
    pub perfection: Option<ScoreBands>,
}

impl Metric {
    /// Width of its interval as a share of its range; `None` without both ends.
    pub fn width(&self) -> Option<f64> {
        let Interval { low, high, .. } = self.interval;
        Some((high? - low?) / self.definition.unit.width())
    }
}

/// Distribution of the verdicts on one criterion; each repeat is a verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScoreBands {
    /// Items with the best score.
    pub perfect: u64,
    /// Items in the scale's upper three tenths below that: minor issues.
    pub minor: u64,
    /// Lower: major issues.
    pub major: u64,
}

/// Accumulator of results that computes a run's metrics.
#[derive(Debug)]
pub struct Tally<'a> {
    rubric: &'a Rubric,
    policy: AveragingPolicy,
    judged: bool,
    repeated: bool,
    confidence: f64,
    definitions: Vec<MetricDefinition>,
    samples: Vec<Sample>,
    perfections: Vec<ScoreBands>,
    /// Count and sum of each item per metric, for runs with repeats.
    items: Vec<Vec<Sums>>,
    item_clusters: Vec<Option<usize>>,
    clusters: ClusterNames,
    grades: IndexMap<String, u64>,
}

/// The metric at this path.
pub(crate) fn metric_at<'a>(metrics: &'a [Metric], path: &str) -> Option<&'a Metric> {
    metrics.iter().find(|metric| metric.definition.path == path)
}

impl<'a> Tally<'a> {
    /// An accumulator for this rubric, with the judge on or off, and each item judged `repeat`
    /// times.
    pub fn new(rubric: &'a Rubric, judged: bool, repeat: u32, policy: AveragingPolicy) -> Self {
        let definitions = MetricDefinition::all(rubric);
        let grades = match rubric.formula {
            Formula::WeightedGroups => {
                rubric.grades.iter().map(|grade| (grade.name.clone(), 0)).collect()
            }
            Formula::SumOverMax => IndexMap::new(),
        };
        Self {
            rubric,
            policy,
            judged,
            repeated: repeat > 1,
            confidence: interval::CONFIDENCE,
            samples: vec![Sample::default(); definitions.len()],
            perfections: vec![ScoreBands::default(); definitions.len()],
            items: vec![Vec::new(); definitions.len()],
            definitions,
            item_clusters: Vec::new(),
            clusters: ClusterNames::default(),
            grades,
        }
    }

    /// An accumulator for a run's record.
    pub fn for_run(rubric: &'a Rubric, record: &RunRecord, policy: AveragingPolicy) -> Self {
        let tally = Self::new(rubric, record.judge.is_some(), record.repeat, policy);
        match record.dataset.sample.and_then(|sample| sample.until_width) {
            Some(_) => Self { confidence: LOOKS_CONFIDENCE, ..tally },
            None => tally,
        }
    }

    /// Adds a current result. `item` numbers the run's items from 0.
    pub fn add(&mut self, result: &JobResult, item: usize) {
        let zero = self.policy.counts_as_zero(result.outcome);
        let cluster = result.item.cluster.as_deref().map(|name| self.clusters.number_of(name));
        if self.repeated && self.item_clusters.len() <= item {
            self.item_clusters.resize(item + 1, None);
        }
        if let Some(known) = self.item_clusters.get_mut(item) {
            *known = cluster;
        }
        let metrics = self.definitions.iter().zip(&mut self.samples).zip(&mut self.items);
        for ((definition, sample), items) in metrics {
            let value = definition.counted_value(result, self.judged, self.policy);
            let Some(value) = value else { continue };
            if !self.repeated {
                sample.add(value, cluster);
                continue;
            }
            if items.len() <= item {
                items.resize(item + 1, Sums::default());
            }
            if let Some(sums) = items.get_mut(item) {
                sums.add(value);
            }
        }
        match &result.semantic {
            Some(verdict) if result.outcome == Outcome::Scored => self.add_verdict(verdict),
            _ if zero && self.judged => self.add_zero(),
            _ => {}
        }
    }

    /// The metrics, including those without data, the grades and warnings.
    pub fn finish(mut self) -> (Vec<Metric>, Option<IndexMap<String, u64>>, Vec<String>) {
        for (sample, items) in self.samples.iter_mut().zip(&self.items) {
            for (item, sums) in items.iter().enumerate() {
                if let Some(mean) = sums.mean() {
                    sample.add(mean, self.item_clusters.get(item).copied().flatten());
                }
            }
        }
        let mut groups_of = Vec::new();
        let mut metrics = Vec::new();
        for ((definition, sample), spread) in
            self.definitions.into_iter().zip(&self.samples).zip(&self.perfections)
        {
            let estimate =
                sample.estimate().map(|estimate| estimate.with_confidence(self.confidence));
            if let Some(estimate) = &estimate {
                groups_of.push((definition.title.clone(), estimate.groups as u64));
            }
            let (least, most) = definition.range(self.rubric, self.policy);
            let interval = match &estimate {
                None => Interval { n: 0, low: None, high: None },
                Some(estimate) if definition.rate => estimate.rate_interval(self.repeated),
                Some(estimate) if definition.unit == Unit::Milliseconds => {
                    estimate.mean_interval(least, most)
                }
                Some(estimate) => estimate.bounded_interval(least, most),
            };
            if estimate.is_none() && definition.needs_evidence() {
                continue;
            }
            metrics.push(Metric {
                value: estimate.map(|estimate| round_stable(estimate.mean)),
                interval,
                perfection: definition.perfect_criterion().map(|_| *spread),
                definition,
            });
        }
        let warning = few_clusters(&groups_of).filter(|_| self.clusters.len() > 0);
        let graded = self.grades.values().any(|count| *count > 0);
        (metrics, graded.then_some(self.grades), warning.into_iter().collect())
    }

    /// Adds the worst scores for a job that counts as zero. It has no grade, since it was not
    /// judged.
    fn add_zero(&mut self) {
        for (definition, spread) in self.definitions.iter().zip(&mut self.perfections) {
            spread.major += u64::from(definition.perfect_criterion().is_some());
        }
    }

    fn add_verdict(&mut self, verdict: &Verdict) {
        if let Score::Groups { grade, .. } = &verdict.score {
            *self.grades.entry(grade.clone()).or_insert(0) += 1;
        }
        let scale = self.rubric.scale;
        let width = f64::from(scale.max.saturating_sub(scale.min));
        for (definition, spread) in self.definitions.iter().zip(&mut self.perfections) {
            let criterion = definition.perfect_criterion();
            let Some(score) = criterion.and_then(|key| score_of(verdict, key)) else { continue };
            let height = f64::from(score.saturating_sub(scale.min));
            if score >= scale.max {
                spread.perfect += 1;
            } else if height >= 0.7 * width {
                spread.minor += 1;
            } else {
                spread.major += 1;
            }
        }
    }
}

/// Warning of metrics, given with their numbers of clusters, whose intervals are based on few; it
/// names them unless it is about all.
fn few_clusters(groups_of: &[(String, u64)]) -> Option<String> {
    let few: Vec<_> = groups_of.iter().filter(|(_, groups)| *groups < 10).collect();
    let fewest = few.iter().map(|(_, groups)| *groups).min()?;
    let metrics = match few.len() == groups_of.len() {
        true => String::new(),
        false => {
            let titles: Vec<_> = few.iter().map(|(title, _)| title.as_str()).collect();
            format!(" of {}", titles.join(", "))
        }
    };
    let plural = if fewest == 1 { "" } else { "s" };
    Some(format!(
        "the intervals{metrics} are based on {fewest} cluster{plural}: below 10 they are unreliable, so \
         add clusters to the dataset before you rely on them"
    ))
}

#[cfg(test)]
mod tests;
