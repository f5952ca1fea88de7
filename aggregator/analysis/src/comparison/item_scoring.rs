//! The score of an item in a comparison: its verdict or, where neither run was judged, its measured
//! evidence.

use super::item::{ComparedMetrics, ItemValues};
use crate::metrics::round_stable;
use juror_types::outcome::{ErrorKind, Outcome};

/// Scores of the items of two runs.
#[derive(Clone, Copy)]
pub(super) struct ItemScoring<'a> {
    pub metrics: &'a ComparedMetrics,
    /// True for a base and a head with a judge. Without one, scores are measured.
    pub judged: [bool; 2],
}

impl ItemScoring<'_> {
    /// True if one run has verdicts and the other has none, so that no score has another to compare.
    pub fn is_one_judged(&self) -> bool {
        self.judged == [true, false] || self.judged == [false, true]
    }

    fn by_evidence(&self) -> bool {
        self.judged == [false, false]
    }

    /// Outcome of an item that fails in `after` and not in `before` for a reason that needs no judge:
    /// its files or its pipeline failed, it has no code any more, or a stage no longer passes.
    pub fn stage_failure(
        &self,
        before: &ItemValues,
        after: &ItemValues,
    ) -> Option<(Outcome, Option<ErrorKind>)> {
        let stages = self.metrics.stages.iter();
        let mut stages = stages.map(|stage| (before.passed(*stage), after.passed(*stage)));
        let has_no_code = after.ending.0 == Outcome::NoOutput;
        if has_no_code && stages.clone().any(|(before, after)| before.is_some() && after.is_none())
            || after.is_broken() && !before.is_broken()
        {
            return Some(after.ending);
        }
        let fails = stages.any(|(before, after)| (before, after) == (Some(true), Some(false)));
        fails.then_some((Outcome::Scored, None))
    }

    /// True for an item that passes a stage only in the head and none only in the base, false for
    /// the reverse; `None` if no stage changed, or stages changed both ways.
    pub fn stage_change(&self, base: &ItemValues, head: &ItemValues) -> Option<bool> {
        let stages = self.metrics.stages.iter();
        let mut changes = stages.filter_map(|stage| {
            let (before, after) = base.passed(*stage).zip(head.passed(*stage))?;
            (before != after).then_some(after)
        });
        let first = changes.next()?;
        changes.all(|change| change == first).then_some(first)
    }

    /// True for an item of runs without a judge that has no value for a stage that another run's has,
    /// as one without code. Where there is a judge, it has no output.
    pub fn lacks_stage(&self, item: &ItemValues, other: &ItemValues) -> bool {
        let mut stages = self.metrics.stages.iter();
        self.by_evidence()
            && stages.any(|stage| other.passed(*stage).is_some() && item.passed(*stage).is_none())
    }

    /// An item's score as a share.
    pub fn score(&self, item: &ItemValues) -> Option<f64> {
        if !self.by_evidence() {
            return item.decisive();
        }
        item.mean(self.metrics.measured?)
    }

    /// True for an item that passed its stages.
    pub fn succeeds(&self, item: &ItemValues) -> Option<bool> {
        item.passed(self.metrics.success?)
    }

    /// Fall of an item's score from base to head, as a share: all of it if the code rendered like
    /// the screenshot and no longer does, since a similarity ignores colors.
    pub fn fall(&self, base: &ItemValues, head: &ItemValues) -> Option<f64> {
        let equals = |item| self.by_evidence().then(|| self.renders_equally(item)).flatten();
        if (equals(base), equals(head)) == (Some(true), Some(false)) {
            return Some(1.0);
        }
        let (before, after) = self.score(base).zip(self.score(head))?;
        Some(round_stable(before - after))
    }

    fn renders_equally(&self, item: &ItemValues) -> Option<bool> {
        item.passed(self.metrics.nothing_differs?)
    }
}
