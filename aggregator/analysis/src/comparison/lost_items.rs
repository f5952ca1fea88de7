//! Items with a value in the base and none in the head.

use super::{Decision, item::ItemValues};
use crate::metrics::round_stable;
use juror_types::outcome::{ErrorKind, Outcome};
use serde::Serialize;

/// Items of the base without a value in the head, for one metric.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LostItems {
    /// Path of the metric in `overall`.
    pub metric: String,
    /// Title of the metric.
    pub title: String,
    /// Number of items with a value in the base, without those with another input or outside of the
    /// head's sample.
    pub base: u64,
    /// Number of them whose image, code or pipeline failed in the head, or left nothing to measure.
    pub failing: u64,
    /// Number of them that were not judged in the head or are not in it.
    pub absent: u64,
    /// Both as a share of `base`.
    pub share: f64,
    /// True if the share exceeds the allowed one, so that the comparison is at best inconclusive.
    pub exceeds: bool,
    /// The decision on the metric with each failing item counted as zero; `None` if the share is
    /// allowed.
    pub as_failed: Option<Decision>,
}

/// Counts of items with a value in the base, by their loss in the head.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LossCounts {
    pub(super) base: u64,
    pub(super) failing: u64,
    pub(super) absent: u64,
    /// Items that the head does not contain, until [`Self::settle_missing`] divides them.
    missing: u64,
}

/// Way in which an item lost its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    /// The item's image, code or pipeline failed, or left nothing to measure.
    Failing,
    /// The item could not be judged (API, budget, deadline), or is not in the head.
    Absent,
}

impl Loss {
    /// Loss of the verdict; `None` if the head's item is scored. An item is lost if less than half
    /// of its share of judgments scored in the base is scored in the head.
    pub(super) fn from_verdict(base: &ItemValues, head: &ItemValues) -> Option<Self> {
        if !head.scores.is_empty() && 2.0 * head.scored_share() >= base.scored_share() {
            return None;
        }
        match head.ending {
            // Scored without a verdict: the judge is off in the head.
            (Outcome::Scored, _) => Some(Self::Absent),
            _ => Some(Self::from_stage(head)),
        }
    }

    /// The loss of a value that is measured on rendered code and that the head does not have: a fault
    /// of its renderer is none of its code.
    pub(super) fn from_rendering(head: &ItemValues) -> Self {
        if head.is_unmeasured { Self::Absent } else { Self::from_stage(head) }
    }

    /// The loss of a deterministic stage's value that the head does not have.
    pub(super) fn from_stage(head: &ItemValues) -> Self {
        use ErrorKind::{Image, Input, Output, Pipeline, Poison};
        match head.ending {
            (Outcome::Scored | Outcome::NoOutput, _)
            | (_, Some(Image | Input | Pipeline | Output | Poison)) => Self::Failing,
            _ => Self::Absent,
        }
    }
}

impl LossCounts {
    /// Counts an item with a value in the base.
    pub(super) fn add(&mut self, loss: Option<Loss>) {
        self.base += 1;
        match loss {
            Some(Loss::Failing) => self.failing += 1,
            Some(Loss::Absent) => self.absent += 1,
            None => {}
        }
    }

    /// Counts an item with a value in the base that the head does not contain.
    pub(super) fn add_missing(&mut self) {
        self.missing += 1;
    }

    /// Counts missing items as absent, except for `unselected` ones that the head's sample may have
    /// left out.
    pub(super) fn settle_missing(&mut self, unselected: u64) {
        let gone = std::mem::take(&mut self.missing).saturating_sub(unselected);
        self.base += gone;
        self.absent += gone;
    }

    /// Lost items as a share of the base's.
    pub(super) fn share(&self) -> f64 {
        if self.base == 0 { 0.0 } else { (self.failing + self.absent) as f64 / self.base as f64 }
    }

    /// The record of these counts; none without a lost item. `as_failed` computes the decision that
    /// counts failing items as zero.
    pub(super) fn record(
        &self,
        (metric, title): (&str, &str),
        max_lost: f64,
        as_failed: impl FnOnce() -> Decision,
    ) -> Option<LostItems> {
        let exceeds = self.share() > max_lost;
        (self.failing + self.absent > 0).then(|| LostItems {
            metric: metric.to_owned(),
            title: title.to_owned(),
            base: self.base,
            failing: self.failing,
            absent: self.absent,
            share: round_stable(self.share()),
            exceeds,
            as_failed: exceeds.then(as_failed),
        })
    }
}
