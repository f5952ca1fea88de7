//! Lists of changed items by their change.

use super::{item::ItemValues, item_scoring::ItemScoring};
use crate::metrics::round_stable;
use juror_types::outcome::{ErrorKind, Outcome};
use serde::Serialize;

/// Items by their change.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ItemLists {
    /// Paired items whose score fell by more than the margin, largest fall first.
    pub regressed: Vec<ItemChange>,
    /// Paired items whose score rose by more than the margin, largest rise first.
    pub improved: Vec<ItemChange>,
    /// Paired items that are scored, or pass, in the base and not in the head; where one run has no
    /// judge, those whose files, pipeline or stages fail in the head alone.
    pub newly_failing: Vec<NewFailure>,
    /// Items of the head only.
    pub new: Vec<String>,
    /// Items of the base only.
    pub gone: Vec<String>,
    /// Items in both with another screenshot, another style, or other expected tokens or pattern,
    /// which are not paired.
    pub changed_input: Vec<String>,
}

/// An item's score as a share, in both runs: its verdict or, where neither run was judged, its
/// `evidence.ssim_low`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ItemChange {
    /// Id of the item.
    pub id: String,
    /// Score in the base.
    pub base: f64,
    /// Score in the head.
    pub head: f64,
    /// head − base.
    pub difference: f64,
}

/// An item that fails only in the head.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NewFailure {
    /// Id of the item.
    pub id: String,
    /// Outcome in the head: `scored` if it is scored and does not pass.
    pub outcome: Outcome,
    /// The kind of error, if there is one.
    pub error: Option<ErrorKind>,
}

impl ItemLists {
    /// Adds a pair.
    pub(super) fn add_pair(
        &mut self,
        base: &ItemValues,
        head: &ItemValues,
        margin: f64,
        scoring: ItemScoring<'_>,
    ) {
        let id = || head.id.clone();
        if scoring.is_one_judged() {
            let failure = scoring.stage_failure(base, head);
            let failure = failure.map(|(outcome, error)| NewFailure { id: id(), outcome, error });
            return self.newly_failing.extend(failure);
        }
        if base.scored > 0
            && let Some((outcome, error)) = head.unscored()
        {
            return self.newly_failing.push(NewFailure { id: id(), outcome, error });
        }
        let succeeds = |item: &ItemValues, other: &ItemValues| {
            scoring.succeeds(item).map(|succeeds| succeeds && !scoring.lacks_stage(item, other))
        };
        if (succeeds(base, head), succeeds(head, base)) == (Some(true), Some(false)) {
            let outcome = Outcome::Scored;
            self.newly_failing.push(NewFailure { id: id(), outcome, error: None });
        }
        let Some((before, after)) = scoring.score(base).zip(scoring.score(head)) else { return };
        let difference = round_stable(after - before);
        let change = ItemChange {
            id: id(),
            base: round_stable(before),
            head: round_stable(after),
            difference,
        };
        if difference < -margin {
            self.regressed.push(change);
        } else if difference > margin {
            self.improved.push(change);
        }
    }

    /// Removes changes of scores that another renderer may have caused.
    pub(super) fn remove_moved(&mut self) {
        self.regressed.clear();
        self.improved.clear();
    }

    /// Sorts by the largest change; a stable sort, so ties stay sorted by id.
    pub(super) fn sort(&mut self) {
        self.regressed.sort_by(|left, right| left.difference.total_cmp(&right.difference));
        self.improved.sort_by(|left, right| right.difference.total_cmp(&left.difference));
    }
}
