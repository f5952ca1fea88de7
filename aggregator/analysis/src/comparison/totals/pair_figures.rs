//! Figures of a comparison, computed from the sums over its pairs.

use super::{MeanTotals, PairCounts, RateTotals, Totals};
use crate::{
    comparison::{
        Decision, FallenItems, ItemLists, LostItems, MetricDifference, Pairs, PassDifference,
        changes_beyond_noise::ChangeLists,
        holm,
        item::{MEASURED_SCORE, is_deterministic},
    },
    likely_clusters::ClusterEffect,
    metrics::{MetricDefinition, round_stable},
};

/// Path of the only rate that involves the judge.
const SUCCESS: &str = "pipeline_success_rate";

/// Figures over the pairs of two runs.
pub(crate) struct PairFigures {
    pub(crate) decisive: MetricDifference,
    pub(crate) criteria: Vec<MetricDifference>,
    pub(crate) metrics: Vec<MetricDifference>,
    pub(crate) passes: Vec<PassDifference>,
    pub(crate) fallen: FallenItems,
    /// True if neither run was judged and what was measured in them cannot be compared.
    pub(crate) has_other_renderer: bool,
    pub(crate) lost: Vec<LostItems>,
    pub(crate) items: ItemLists,
    pub(crate) changes: ChangeLists,
    pub(crate) counts: PairCounts,
    /// True if the scores of items are measured: neither run was judged, and one renderer drew both.
    pub(crate) by_evidence: bool,
    pub(crate) clusters: usize,
    /// Effect of likely clusters on the decisive metric, and the decision without them where they
    /// are used, with them where they are not.
    pub(crate) reading: Option<(ClusterEffect, Decision)>,
}

impl Totals<'_> {
    /// Figures over all pairs. Measurements decide if one renderer rendered both runs.
    pub(crate) fn finish(mut self, same_renderer: bool) -> PairFigures {
        self.same_renderer = same_renderer;
        if self.is_by_evidence() && !same_renderer {
            self.lists.remove_moved();
            self.changes.remove_falls();
        }
        self.lists.sort();
        let rules = self.rules;
        let difference = |definition, pairs: &Pairs| {
            MetricDifference::new(definition, pairs, rules.margin, rules.use_likely_clusters)
        };
        let decisive = difference(&self.metrics.decisive, &self.decisive.pairs);
        let decisive = MetricDifference { decides: true, ..decisive };
        let reading = self.cluster_reading();
        let all = self.metrics.others.iter().zip(&self.others);
        let mut criteria: Vec<_> = all
            .clone()
            .take(self.metrics.criteria)
            .map(|(definition, totals)| difference(definition, &totals.pairs))
            .collect();
        adjust(&mut criteria, rules.margin);
        let mut metrics: Vec<_> = all
            .skip(self.metrics.criteria)
            .filter(|(_, totals)| totals.pairs.count() > 0)
            .map(|(definition, totals)| MetricDifference {
                decides: self.decides(definition),
                ..difference(definition, &totals.pairs)
            })
            .collect();
        let mut passes = self.pass_differences(rules.use_likely_clusters && reading.is_some());
        self.decide_deterministic(&mut metrics, &mut passes);
        let lost = self.lost();
        // An item that has one has the other metrics of evidence too.
        let is_measured = metrics.iter().any(|metric| metric.metric == MEASURED_SCORE);
        let by_evidence = self.is_by_evidence() && same_renderer && is_measured;
        let by_stages = self.is_by_evidence();
        let pairs = if by_stages { self.counts.paired } else { decisive.difference.n };
        let fallen = FallenItems::new(&self.far, pairs, rules.fallen_by, rules.fallen_share);
        PairFigures {
            decisive,
            criteria,
            metrics,
            passes,
            fallen: FallenItems { by_stages, ..fallen },
            has_other_renderer: by_stages && !same_renderer,
            lost,
            items: self.lists,
            changes: self.changes,
            counts: self.counts,
            by_evidence,
            clusters: self.clusters.len(),
            reading,
        }
    }

    /// Effect of likely clusters on the decisive metric, and the decision in the other case.
    fn cluster_reading(&self) -> Option<(ClusterEffect, Decision)> {
        let pairs = &self.decisive.pairs;
        let effect = pairs.cluster_effect()?;
        let other = match self.rules.use_likely_clusters {
            true => pairs.difference(1.0),
            false => pairs.clustered_difference(1.0),
        };
        Some((effect, Decision::for_difference(&other, self.rules.margin)))
    }

    fn pass_differences(&self, by_clusters: bool) -> Vec<PassDifference> {
        let rates = self.metrics.passes.iter().zip(&self.rates);
        // A success with a verdict is no success without one.
        let is_comparable = |path: &str| path != SUCCESS || self.is_judged_alike();
        let counted = rates.filter(|(definition, totals)| {
            totals.table.total() > 0 && is_comparable(&definition.path)
        });
        let differences = counted.map(|(definition, totals)| {
            let changes = if by_clusters { &totals.clustered_changes } else { &totals.changes };
            let (base, head) = totals.table.rates().unwrap_or_default();
            PassDifference {
                metric: definition.path.clone(),
                title: definition.title.clone(),
                base: round_stable(base),
                head: round_stable(head),
                table: totals.table,
                p_value: Some(changes.p_value()),
                p_adjusted: None,
                decides: self.decides(definition),
                decision: None,
            }
        });
        differences.collect()
    }

    fn decides(&self, definition: &MetricDefinition) -> bool {
        let is_success = definition.path == SUCCESS;
        let is_rendered = is_success || definition.needs_evidence();
        is_deterministic(definition)
            && (self.is_judged_alike() || !is_success)
            && (self.same_renderer || !is_rendered)
    }

    /// Decides on the deterministic metrics, with p-values adjusted over all of them.
    fn decide_deterministic(
        &self,
        metrics: &mut [MetricDifference],
        passes: &mut [PassDifference],
    ) {
        let means = metrics.iter().filter(|each| each.decides).map(|each| each.difference.p_value);
        let rates = passes.iter().filter(|each| each.decides).map(|each| each.p_value);
        let adjusted = holm(&means.chain(rates).collect::<Vec<_>>());
        let mut adjusted = adjusted.into_iter();
        for mean in metrics.iter_mut().filter(|each| each.decides) {
            mean.adjust(adjusted.next().flatten(), self.rules.margin);
        }
        let totals = |path: &str| {
            let mut all = self.metrics.passes.iter().zip(&self.rates);
            all.find(|(definition, _)| definition.path == path).map(|(_, totals)| totals)
        };
        for rate in passes.iter_mut().filter(|each| each.decides) {
            let pairs = totals(&rate.metric).map(|totals| totals.pairs.difference(1.0));
            rate.decide(adjusted.next().flatten(), &pairs.unwrap_or_default(), self.rules.margin);
        }
    }

    fn lost(&self) -> Vec<LostItems> {
        let rules = self.rules;
        let mean = |definition: &MetricDefinition, totals: &MeanTotals| {
            let width = definition.unit.width();
            let names = (definition.path.as_str(), definition.title.as_str());
            totals.losses.record(names, rules.max_lost, || {
                Decision::for_difference(&totals.as_failed.difference(width), rules.margin * width)
            })
        };
        let rate = |definition: &MetricDefinition, totals: &RateTotals| {
            let names = (definition.path.as_str(), definition.title.as_str());
            totals.losses.record(names, rules.max_lost, || totals.changes_as_failed.decision())
        };
        let means = self.metrics.others.iter().zip(&self.others);
        let means = means.filter(|(definition, _)| self.decides(definition));
        let rates = self.metrics.passes.iter().zip(&self.rates);
        let rates = rates.filter(|(definition, _)| self.decides(definition));
        // Without a judge in the head there is no verdict to lose.
        let decisive = mean(&self.metrics.decisive, &self.decisive);
        let decisive = decisive.filter(|_| self.is_judged_alike());
        let means = means.filter_map(|(definition, totals)| mean(definition, totals));
        let rates = rates.filter_map(|(definition, totals)| rate(definition, totals));
        decisive.into_iter().chain(rates).chain(means).collect()
    }
}

/// Adjusts the p-values of criteria over all of them, and decides on each.
fn adjust(criteria: &mut [MetricDifference], margin: f64) {
    let p_values: Vec<_> = criteria.iter().map(|each| each.difference.p_value).collect();
    for (criterion, adjusted) in criteria.iter_mut().zip(holm(&p_values)) {
        criterion.adjust(adjusted, margin);
    }
}
