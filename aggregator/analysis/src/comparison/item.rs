//! Item of a run with its repeats combined.

use crate::{
    likely_clusters::{ClusterBasis, ClusterKeys},
    metrics::{AveragingPolicy, MetricDefinition, Sums, Unit},
    run_facts::RunSummary,
};
use juror_journal::journal::JournalError;
use juror_types::{
    id::Digest,
    outcome::{ErrorKind, InputRecord, ItemRecord, JobResult, Outcome},
    rubric::Rubric,
};

/// Path of the metric that is the score of items where neither run was judged: the lowest
/// similarity of a window, since a share of all pixels hides small defects.
pub(super) const MEASURED_SCORE: &str = "evidence.ssim_low";

/// Path of the rate of items whose code renders like the screenshot.
const NOTHING_DIFFERS: &str = "evidence.equal_rate";

/// The compared metrics of every item.
pub(crate) struct ComparedMetrics {
    /// The rubric's one number, as a share.
    pub(crate) decisive: MetricDefinition,
    /// The criteria, followed by further means; `criteria` is the number of the former.
    pub(crate) others: Vec<MetricDefinition>,
    pub(crate) criteria: usize,
    /// Pass conditions, including the pipeline's success.
    pub(crate) passes: Vec<MetricDefinition>,
    pub(crate) success: Option<usize>,
    /// Positions of the pass conditions that neither a verdict nor a renderer takes part in.
    pub(crate) stages: Vec<usize>,
    /// Position among the others of the score of runs without a judge.
    pub(crate) measured: Option<usize>,
    /// Position among the pass conditions of code that renders like the screenshot.
    pub(crate) nothing_differs: Option<usize>,
}

impl ComparedMetrics {
    pub(crate) fn for_rubric(rubric: &Rubric) -> Self {
        let all = MetricDefinition::all(rubric);
        let mut others = MetricDefinition::criteria(rubric);
        others.extend(all.iter().filter(|each| each.is_further_mean()).cloned());
        let passes: Vec<_> = all.into_iter().filter(|each| each.rate).collect();
        let is_stage = |each: &MetricDefinition| !each.is_judged() && !each.needs_evidence();
        let stages = passes.iter().enumerate().filter(|(_, each)| is_stage(each));
        Self {
            decisive: MetricDefinition::decisive(rubric),
            stages: stages.map(|(position, _)| position).collect(),
            criteria: rubric.criteria.len(),
            measured: others.iter().position(|each| each.path == MEASURED_SCORE),
            others,
            nothing_differs: passes.iter().position(|each| each.path == NOTHING_DIFFERS),
            success: passes.iter().position(|each| each.path == "pipeline_success_rate"),
            passes,
        }
    }
}

/// Values of an item in a run.
#[derive(Debug)]
pub(crate) struct ItemValues {
    pub(crate) id: String,
    pub(crate) cluster: Option<String>,
    /// Key of its likely cluster.
    pub(crate) likely: Option<u64>,
    /// Digest of the rubric's first image; further images are the pipeline's output, like its code.
    /// `None` if unknown.
    pub(crate) input: Option<Digest>,
    /// Result that the dataset expects.
    expected: ExpectedResult,
    /// The decisive metric of each repeat.
    pub(crate) scores: Vec<f64>,
    /// The repeats' values of each further metric.
    values: Vec<Sums>,
    /// The repeats' values of each pass condition, 1 for a pass.
    passes: Vec<Sums>,
    /// True if its code was not measured in a judgment, through no fault of the code.
    pub(crate) is_unmeasured: bool,
    /// Scored judgments.
    pub(crate) scored: u32,
    /// Planned judgments.
    pub(crate) planned: u32,
    /// Outcome of the first unscored judgment; `scored` if there is none.
    pub(crate) ending: (Outcome, Option<ErrorKind>),
}

impl ItemValues {
    fn new(first: &JobResult, likely: Option<u64>, metrics: &ComparedMetrics) -> Self {
        Self {
            id: first.screenshot_id.clone(),
            cluster: first.item.cluster.clone(),
            likely,
            input: None,
            expected: ExpectedResult::from_record(&first.item),
            scores: Vec::new(),
            values: vec![Sums::default(); metrics.others.len()],
            passes: vec![Sums::default(); metrics.passes.len()],
            is_unmeasured: false,
            scored: 0,
            planned: 0,
            ending: (Outcome::Scored, None),
        }
    }

    /// True if another run has another first image of the item, or expects another result, as far as
    /// both are known.
    pub(crate) fn has_other_input(&self, other: &Self) -> bool {
        let images = self.input.zip(other.input);
        images.is_some_and(|(own, other)| own != other)
            || self.expected.differs_from(&other.expected)
    }

    /// The mean over the repeats, for each further metric.
    pub(crate) fn means(&self) -> impl Iterator<Item = Option<f64>> {
        self.values.iter().map(Sums::mean)
    }

    /// The mean over the repeats of the further metric at this position.
    pub(crate) fn mean(&self, metric: usize) -> Option<f64> {
        self.values.get(metric)?.mean()
    }

    /// True if most repeats pass, for each pass condition.
    pub(crate) fn rates(&self) -> impl Iterator<Item = Option<bool>> {
        self.passes.iter().map(majority)
    }

    /// True if it passes the pass condition at this position; `None` if it has no value for it.
    pub(crate) fn passed(&self, condition: usize) -> Option<bool> {
        self.passes.get(condition).and_then(majority)
    }

    /// The mean of the decisive metric over the repeats.
    pub(crate) fn decisive(&self) -> Option<f64> {
        let count = self.scores.len() as f64;
        (count > 0.0).then(|| self.scores.iter().sum::<f64>() / count)
    }

    /// Mean of the decisive metric with every unscored judgment as zero.
    pub(crate) fn decisive_with_zeros(&self) -> f64 {
        self.scores.iter().sum::<f64>() / f64::from(self.planned.max(1))
    }

    /// Scored judgments as a share of the planned ones.
    pub(crate) fn scored_share(&self) -> f64 {
        f64::from(self.scored) / f64::from(self.planned.max(1))
    }

    /// True if the item's own files or pipeline failed, whatever a judge would say.
    pub(crate) fn is_broken(&self) -> bool {
        use ErrorKind::{Image, Input, Pipeline, Poison};
        matches!(self.unscored(), Some((_, Some(Image | Input | Pipeline | Poison))))
    }

    /// Outcome of the item if it has no scored judgment.
    pub(crate) fn unscored(&self) -> Option<(Outcome, Option<ErrorKind>)> {
        (self.scored == 0).then_some(self.ending)
    }
}

/// The items of a run, in the order of their ids, from the results of each.
pub(crate) struct ItemsOf<'a, R> {
    results: R,
    metrics: &'a ComparedMetrics,
    first_image: &'a str,
    judged: bool,
    repeat: u32,
    keys: Option<ClusterKeys>,
    policy: AveragingPolicy,
}

impl<'a, R: Iterator<Item = Result<Vec<JobResult>, JournalError>>> ItemsOf<'a, R> {
    pub(crate) fn new(
        results: R,
        metrics: &'a ComparedMetrics,
        first_image: &'a str,
        run: &RunSummary,
        basis: Option<ClusterBasis>,
        policy: AveragingPolicy,
    ) -> Self {
        let (judged, repeat) = (run.judge.is_some(), run.repeat);
        let keys = basis.map(ClusterKeys::new);
        Self { results, metrics, first_image, judged, repeat, keys, policy }
    }

    /// The next item; calls `look` with every result of it.
    pub(crate) fn next_item(
        &mut self,
        mut look: impl FnMut(&JobResult),
    ) -> Result<Option<ItemValues>, JournalError> {
        let Some(results) = self.results.next().transpose()? else { return Ok(None) };
        let Some(first) = results.first() else { return Ok(None) };
        let keys = self.keys.as_mut();
        let likely = keys.and_then(|keys| keys.key(&first.screenshot_id, &first.item));
        let mut item = ItemValues::new(first, likely, self.metrics);
        for result in &results {
            self.add(&mut item, result);
            look(result);
        }
        item.planned = item.planned.max(self.repeat);
        Ok(Some(item))
    }

    fn add(&self, item: &mut ItemValues, result: &JobResult) {
        let value = |definition: &MetricDefinition| {
            definition.counted_value(result, self.judged, self.policy)
        };
        item.scores.extend(value(&self.metrics.decisive));
        let others = self.metrics.others.iter().zip(&mut item.values);
        let passes = self.metrics.passes.iter().zip(&mut item.passes);
        for (definition, sums) in others.chain(passes) {
            value(definition).into_iter().for_each(|value| sums.add(value));
        }
        item.planned += 1;
        item.is_unmeasured |= result.unmeasured.is_some();
        match result.outcome {
            Outcome::Scored => item.scored += 1,
            outcome if item.ending.0 == Outcome::Scored => {
                item.ending = (outcome, result.error.as_ref().map(|error| error.kind));
            }
            _ => {}
        }
        item.input =
            item.input.or(result.item.input(self.first_image).and_then(|image| image.digest));
    }
}

/// True if a metric belongs to a deterministic stage and takes part in the decision.
pub(crate) fn is_deterministic(definition: &MetricDefinition) -> bool {
    !definition.is_semantic() && definition.unit != Unit::Milliseconds
}

/// Result that the dataset expects of an item.
#[derive(Clone, Debug, Default, PartialEq)]
struct ExpectedResult {
    /// Digest of the expected tokens; `None` without them, `Some(None)` where they were not read.
    tokens: Option<Option<Digest>>,
    pattern: Option<String>,
    /// Style that an image should be restyled to.
    style: Option<String>,
}

impl ExpectedResult {
    fn from_record(item: &ItemRecord) -> Self {
        let tokens = item.input(InputRecord::EXPECTED_TOKENS);
        Self {
            tokens: tokens.map(|tokens| tokens.digest),
            pattern: item.expected_pattern.clone(),
            style: item.style.clone(),
        }
    }

    /// True if two runs expect other results, as far as both read them.
    fn differs_from(&self, other: &Self) -> bool {
        let is_known = self.tokens != Some(None) && other.tokens != Some(None);
        is_known && self.tokens != other.tokens
            || self.pattern != other.pattern
            || self.style != other.style
    }
}

fn majority(passes: &Sums) -> Option<bool> {
    Some(passes.mean()? > 0.5)
}
