//! Totals of a mean and of a rate over paired items and their clusters.

use super::{
    Pairs, PassTable,
    lost_items::{Loss, LossCounts},
    sign_test::Directions,
};

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
