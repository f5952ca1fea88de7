//! Merge join of the items of two runs, sorted by id and in constant memory.

use super::CompareError;
use crate::{
    comparison::{
        ComparedMetrics, ItemsOf, JudgingFacts, PairFigures, Rules, ScoredInBoth, Totals,
    },
    distinct_names::DistinctNames,
    renderers::Renderers,
    repeats::Judgments,
    results_by_item::results_by_item,
    run_report::Report,
    stability::ItemStability,
};
use juror_journal::journal::RunFiles;
use juror_types::{outcome::JobResult, run::DatasetRecord};
use std::cmp::Ordering;

/// A run with its report.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// Report of the run.
    pub report: &'a Report,
    /// Files of the results that the report is of.
    pub files: &'a RunFiles,
}

/// Data of both runs' results.
pub(super) struct Scanned {
    pub(super) figures: PairFigures,
    pub(super) base: JobTotals,
    pub(super) head: JobTotals,
    pub(super) scored_in_both: ScoredInBoth,
}

/// Sums over a run's jobs beside their values.
#[derive(Default)]
pub(super) struct JobTotals {
    judgments: Judgments,
    pico_usd: u64,
    paid: u64,
    /// Fingerprints of the responding model, as named by the provider.
    pub(super) fingerprints: DistinctNames,
    /// Endpoints of the judge, except the simulator's, of which each start has another one.
    pub(super) endpoints: DistinctNames,
    /// Renderers of the code.
    pub(super) renderers: Renderers,
}

impl JobTotals {
    fn add(&mut self, result: &JobResult) {
        self.renderers.add(result.evidence.as_ref());
        if let Some(judge) = &result.judge {
            judge.fingerprint.iter().for_each(|name| self.fingerprints.add(name));
            let endpoint = judge.base_url.iter().filter(|_| !judge.simulated);
            endpoint.for_each(|url| self.endpoints.add(url));
        }
        if result.attempts > 0 {
            let cost = u64::try_from(result.cost_usd.pico()).unwrap_or_default();
            self.pico_usd = self.pico_usd.saturating_add(cost);
            self.paid += 1;
        }
    }

    pub(super) fn judging(&self, report: &Report) -> JudgingFacts {
        JudgingFacts {
            repeat: report.run.repeat,
            noise: self.judgments.noise_variance(),
            job_pico_usd: self.pico_usd.checked_div(self.paid),
        }
    }
}

/// Reads both runs once.
pub(super) fn scan(
    base: Side<'_>,
    head: Side<'_>,
    rules: Rules,
    stability: &ItemStability,
) -> Result<Scanned, CompareError> {
    let rubric = &head.report.rubric;
    let metrics = ComparedMetrics::for_rubric(rubric);
    let image = rubric.images.first().map_or("", |image| image.name.as_str());
    let (before, after) = (&base.report.run, &head.report.run);
    let basis = head.report.likely_clusters.as_ref().map(|likely| likely.basis);
    let judged = [before.judge.is_some(), after.judge.is_some()];
    let mut totals = Totals::new(&metrics, rules, judged, stability);
    let [base, head] =
        [base, head].map(|side| side.report.items.read(side.files).map(results_by_item));
    let mut base = ItemsOf::new(base?, &metrics, image, before, basis, rules.averaging);
    let mut head = ItemsOf::new(head?, &metrics, image, after, basis, rules.averaging);
    let (mut base_jobs, mut head_jobs) = (JobTotals::default(), JobTotals::default());
    let mut scored_in_both = ScoredInBoth::default();
    let in_sample = unselected(&before.dataset, &after.dataset, 0).is_some();
    let mut present = 0;
    let mut left = base.next_item(|result| base_jobs.add(result))?;
    let mut right = head.next_item(|result| head_jobs.add(result))?;
    loop {
        let order = match (&left, &right) {
            (None, None) => break,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(left), Some(right)) => left.id.cmp(&right.id),
        };
        scored_in_both.note(
            left.as_ref().filter(|_| order.is_le()),
            right.as_ref().filter(|_| order.is_ge()),
        );
        if order == Ordering::Equal
            && let (Some(left), Some(right)) = (&left, &right)
        {
            base_jobs.judgments.add(&left.scores);
            head_jobs.judgments.add(&right.scores);
            totals.pair(left, right);
        }
        if order != Ordering::Greater {
            let next = base.next_item(|result| base_jobs.add(result))?;
            let passed = std::mem::replace(&mut left, next);
            let removed = passed.filter(|_| order.is_lt());
            removed.into_iter().for_each(|item| totals.add_removed(item, in_sample));
        }
        if order != Ordering::Less {
            let next = head.next_item(|result| head_jobs.add(result))?;
            let passed = std::mem::replace(&mut right, next);
            present += 1;
            passed.filter(|_| order.is_gt()).into_iter().for_each(|item| totals.new_item(item));
        }
    }
    // Items outside of a sample were not requested, so they are not lost.
    totals.settle_removed(unselected(&before.dataset, &after.dataset, present).unwrap_or(0));
    let figures = totals.finish(base_jobs.renderers.is_same(&head_jobs.renderers));
    Ok(Scanned { figures, base: base_jobs, head: head_jobs, scored_in_both })
}

/// Number of items of the dataset that a run's sample has left out so far, of which the run has
/// results of `present` items; `None` if the run is no sample. Items that another filter of the
/// base selected are unknown, so that all of them may be left out.
fn unselected(base: &DatasetRecord, head: &DatasetRecord, present: u64) -> Option<u64> {
    let sample = head.sample.filter(|sample| sample.items < sample.of)?;
    let is_same_pool = base.filters == head.filters;
    Some(if is_same_pool { sample.of.saturating_sub(present) } else { u64::MAX })
}
