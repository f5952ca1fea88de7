//! The score of an item in a comparison: its verdict or, where neither run was judged, its measured
//! evidence.

use super::item::{ComparedMetrics, ItemValues};
use crate::metrics::round_stable;

/// Scores of the items of two runs.
#[derive(Clone, Copy)]
pub(super) struct ItemScoring<'a> {
    pub metrics: &'a ComparedMetrics,
    /// True if the scores are measured: neither run was judged.
    pub by_evidence: bool,
}

impl ItemScoring<'_> {
    /// An item's score as a share.
    pub fn score(&self, item: &ItemValues) -> Option<f64> {
        if !self.by_evidence {
            return item.decisive();
        }
        item.values.get(self.metrics.measured?).copied().flatten()
    }

    /// True for an item that passed its stages.
    pub fn succeeds(&self, item: &ItemValues) -> Option<bool> {
        item.passes.get(self.metrics.success?).copied().flatten()
    }

    /// Fall of an item's score from base to head, as a share: all of it if the code rendered like
    /// the screenshot and no longer does, since a similarity ignores colors.
    pub fn fall(&self, base: &ItemValues, head: &ItemValues) -> Option<f64> {
        let equals = |item| self.by_evidence.then(|| self.renders_equally(item)).flatten();
        if (equals(base), equals(head)) == (Some(true), Some(false)) {
            return Some(1.0);
        }
        let (before, after) = self.score(base).zip(self.score(head))?;
        Some(round_stable(before - after))
    }

    fn renders_equally(&self, item: &ItemValues) -> Option<bool> {
        item.passes.get(self.metrics.nothing_differs?).copied().flatten()
    }
}
