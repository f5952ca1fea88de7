//! Sums over the pairs of two runs, from which a comparison is computed.

mod pair_figures;

pub(crate) use pair_figures::PairFigures;

use super::{
    ItemLists, Rules,
    changes_beyond_noise::ChangeLists,
    group_totals::{ClusterNumbers, MeanTotals, RateTotals},
    item::{ComparedMetrics, ItemValues},
    item_scoring::ItemScoring,
    lost_items::Loss,
    sign_test::Directions,
};
use crate::{
    cluster_names::ClusterNames,
    likely_clusters::GroupNumbers,
    metrics::{MetricDefinition, round_stable},
    stability::ItemStability,
};

/// Running sums over the pairs of two runs.
pub(crate) struct Totals<'a> {
    metrics: &'a ComparedMetrics,
    rules: Rules,
    /// True for a base and a head with a judge. Successes are comparable if both are the same.
    judged: [bool; 2],
    /// True if one renderer drew the code of both runs: only then is it the code that differs.
    same_renderer: bool,
    decisive: MeanTotals,
    others: Vec<MeanTotals>,
    rates: Vec<RateTotals>,
    far: Directions,
    clusters: ClusterNames,
    likely: GroupNumbers,
    lists: ItemLists,
    changes: ChangeLists,
    stability: &'a ItemStability,
    counts: PairCounts,
}

/// Counts of pairs, and of items without one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PairCounts {
    /// Number of pairs.
    pub(crate) paired: u64,
    /// Pairs whose input is unknown in a run.
    pub(crate) unverified: u64,
    /// Pairs left out because their items are flaky.
    pub(crate) flaky_left_out: u64,
    /// Items scored only in the head.
    pub(crate) base_lost: u64,
    /// Items of the base that the head's dataset no longer has; of a sample's head, as far as that is
    /// proven.
    pub(crate) gone: u64,
}

impl<'a> Totals<'a> {
    pub(crate) fn new(
        metrics: &'a ComparedMetrics,
        rules: Rules,
        judged: [bool; 2],
        stability: &'a ItemStability,
    ) -> Self {
        Self {
            metrics,
            rules,
            judged,
            same_renderer: true,
            decisive: MeanTotals::default(),
            others: vec![MeanTotals::default(); metrics.others.len()],
            rates: vec![RateTotals::default(); metrics.passes.len()],
            far: Directions::default(),
            clusters: ClusterNames::default(),
            likely: GroupNumbers::default(),
            lists: ItemLists::default(),
            changes: ChangeLists::default(),
            stability,
            counts: PairCounts::default(),
        }
    }

    /// Adds an item of both runs.
    pub(crate) fn pair(&mut self, base: &ItemValues, head: &ItemValues) {
        match (base.input, head.input) {
            // An item that fails in the head is lost, whatever its input.
            _ if base.has_other_input(head) && !(base.scored > 0 && head.is_broken()) => {
                return self.lists.changed_input.push(head.id.clone());
            }
            _ if self.is_left_out(head) => return self.counts.flaky_left_out += 1,
            (Some(_), Some(_)) => {}
            // An item that could not be judged may have no digest of its image.
            _ if base.scored == 0 || head.scored == 0 => {}
            _ => self.counts.unverified += 1,
        }
        self.counts.paired += 1;
        let is_base_lost = base.scored == 0 && head.scored > 0;
        self.counts.base_lost += u64::from(is_base_lost && self.is_judged_alike());
        let name = head.cluster.as_ref().or(base.cluster.as_ref());
        let cluster = name.map(|name| self.clusters.number_of(name));
        let likely = head.likely.and_then(|key| self.likely.number(key));
        let groups = ClusterNumbers { cluster, likely };
        self.add_decisive(base, head, groups);
        let loss = |definition: &MetricDefinition| match definition.needs_evidence() {
            true => Loss::from_rendering(head),
            false => Loss::from_stage(head),
        };
        for (((before, after), totals), definition) in
            base.means().zip(head.means()).zip(&mut self.others).zip(&self.metrics.others)
        {
            totals.add(before, after, loss(definition), groups);
        }
        for (((before, after), totals), definition) in
            base.rates().zip(head.rates()).zip(&mut self.rates).zip(&self.metrics.passes)
        {
            // Items are independent where a stage measured them; where the judge is involved, the
            // items of one cluster share the judge's error.
            totals.add(before, after, loss(definition), groups, definition.is_judged());
        }
        let scoring = ItemScoring { metrics: self.metrics, judged: self.judged };
        if self.is_by_evidence()
            && let Some(risen) = scoring.stage_change(base, head)
        {
            // A stage is a fact about each item, whatever its cluster.
            self.far.add(risen, None);
        }
        self.lists.add_pair(base, head, self.rules.margin, scoring);
        if !self.stability.is_flaky(&head.id) {
            self.changes.add_pair(base, head, self.rules.margin, scoring);
        }
    }

    /// True if the scores of items are measured: no run was judged.
    fn is_by_evidence(&self) -> bool {
        self.judged == [false, false]
    }

    /// True if both runs have a judge, or none has.
    fn is_judged_alike(&self) -> bool {
        let [base, head] = self.judged;
        base == head
    }

    fn is_left_out(&self, item: &ItemValues) -> bool {
        self.rules.leave_out_flaky && self.stability.is_flaky(&item.id)
    }

    /// Adds an item of the base only. It is listed as gone unless the head is a sample, which may
    /// have left it out.
    pub(crate) fn add_removed(&mut self, item: ItemValues, in_sample: bool) {
        if item.scored > 0 && item.decisive().is_some() {
            self.decisive.losses.add_missing();
        }
        let means = item.means().zip(&mut self.others);
        means.filter(|(value, _)| value.is_some()).for_each(|(_, all)| all.losses.add_missing());
        let rates = item.rates().zip(&mut self.rates);
        rates.filter(|(value, _)| value.is_some()).for_each(|(_, all)| all.losses.add_missing());
        self.counts.gone += 1;
        if !in_sample {
            self.lists.gone.push(item.id);
        }
    }

    /// Counts the items of the base only as gone, except for `unselected` ones that the head's
    /// sample may have left out.
    pub(crate) fn settle_removed(&mut self, unselected: u64) {
        self.counts.gone = self.counts.gone.saturating_sub(unselected);
        self.decisive.losses.settle_missing(unselected);
        self.others.iter_mut().for_each(|all| all.losses.settle_missing(unselected));
        self.rates.iter_mut().for_each(|all| all.losses.settle_missing(unselected));
    }

    /// Adds an item of the head only.
    pub(crate) fn new_item(&mut self, item: ItemValues) {
        self.lists.new.push(item.id);
    }

    fn add_decisive(&mut self, base: &ItemValues, head: &ItemValues, groups: ClusterNumbers) {
        let ClusterNumbers { cluster, likely } = groups;
        let Some(before) = base.decisive() else { return };
        let after = head.decisive();
        let loss = Loss::from_verdict(base, head);
        if base.scored > 0 {
            self.decisive.losses.add(loss);
        }
        match (loss, after) {
            (Some(Loss::Failing), _) => {
                self.decisive.as_failed.add(before, head.decisive_with_zeros(), cluster, likely);
            }
            (_, Some(after)) => self.decisive.as_failed.add(before, after, cluster, likely),
            (_, None) => {}
        }
        let Some(after) = after else { return };
        self.decisive.pairs.add(before, after, cluster, likely);
        let difference = round_stable(after - before);
        if difference.abs() > self.rules.fallen_by {
            self.far.add(difference > 0.0, cluster);
        }
    }
}
