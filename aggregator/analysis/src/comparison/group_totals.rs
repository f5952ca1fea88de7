//! Totals of a mean and of a rate over paired items and their clusters.

use super::{
    Pairs,
    lost_items::{Loss, LossCounts},
    sign_test::Directions,
};
use serde::Serialize;

/// Paired items by whether they pass in each run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PassTable {
    /// Pass in both.
    pub both: u64,
    /// Pass in the base alone.
    pub only_base: u64,
    /// Pass in the head alone.
    pub only_head: u64,
    /// Pass in neither.
    pub neither: u64,
}

/// The groups of an item.
#[derive(Clone, Copy)]
pub(super) struct ClusterNumbers {
    pub(super) cluster: Option<usize>,
    pub(super) likely: Option<usize>,
}

/// Totals of a mean over the pairs.
#[derive(Clone, Default)]
pub(super) struct MeanTotals {
    pub(super) pairs: Pairs,
    /// Pairs, with failing items as zero.
    pub(super) as_failed: Pairs,
    pub(super) losses: LossCounts,
}

/// Totals of a rate over the pairs.
#[derive(Clone, Default)]
pub(super) struct RateTotals {
    pub(super) pairs: Pairs,
    pub(super) table: PassTable,
    pub(super) changes: Directions,
    /// Changes by likely clusters.
    pub(super) clustered_changes: Directions,
    /// Changes, with failing items as not passing.
    pub(super) changes_as_failed: Directions,
    pub(super) losses: LossCounts,
}

impl PassTable {
    /// Takes in an item.
    pub fn add(&mut self, base: bool, head: bool) {
        *match (base, head) {
            (true, true) => &mut self.both,
            (true, false) => &mut self.only_base,
            (false, true) => &mut self.only_head,
            (false, false) => &mut self.neither,
        } += 1;
    }

    /// Number of items.
    pub fn total(&self) -> u64 {
        self.both + self.only_base + self.only_head + self.neither
    }

    /// Shares that pass, in the base and in the head; `None` without items.
    pub fn rates(&self) -> Option<(f64, f64)> {
        let total = self.total() as f64;
        let share = |count: u64| count as f64 / total;
        (total > 0.0)
            .then(|| (share(self.both + self.only_base), share(self.both + self.only_head)))
    }
}

impl MeanTotals {
    pub(super) fn add(
        &mut self,
        before: Option<f64>,
        after: Option<f64>,
        loss: Loss,
        groups: ClusterNumbers,
    ) {
        let ClusterNumbers { cluster, likely } = groups;
        let Some(before) = before else { return };
        self.losses.add(Some(loss).filter(|_| after.is_none()));
        if let Some(after) = after {
            self.pairs.add(before, after, cluster, likely);
        }
        if let Some(after) = after.or(Some(0.0).filter(|_| loss == Loss::Failing)) {
            self.as_failed.add(before, after, cluster, likely);
        }
    }
}

impl RateTotals {
    /// Adds an item's rates. If the rate involves the judge, a cluster counts once.
    pub(super) fn add(
        &mut self,
        before: Option<bool>,
        after: Option<bool>,
        loss: Loss,
        groups: ClusterNumbers,
        judged: bool,
    ) {
        let Some(before) = before else { return };
        self.losses.add(Some(loss).filter(|_| after.is_none()));
        if let Some(after) = after {
            let (cluster, likely) = (groups.cluster, groups.likely);
            self.pairs.add(before.into(), after.into(), cluster, likely);
            self.table.add(before, after);
            if before != after {
                self.changes.add(after, groups.cluster.filter(|_| judged));
                let group = groups.cluster.or(groups.likely);
                self.clustered_changes.add(after, group.filter(|_| judged));
            }
        }
        let after = after.or(Some(false).filter(|_| loss == Loss::Failing));
        if let Some(after) = after.filter(|after| *after != before) {
            self.changes_as_failed.add(after, groups.cluster.filter(|_| judged));
        }
    }
}
