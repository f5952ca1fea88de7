//! Changes since the baseline: new, fixed, worse, flaky.

use super::{IssueChange, IssueChanges, item::ItemValues, item_scoring::ItemScoring};
use crate::{
    metrics::round_stable,
    stability::{FlakyItem, ItemStability},
};
use juror_types::{
    id::RunId,
    outcome::{ErrorKind, Outcome},
};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Number of standard deviations of a difference above which a fall is not noise: among 200
/// unchanged items, one in four comparisons has one above it.
const DEVIATIONS: f64 = 3.0;

/// Minimum fall of a score, as a share, where the noise is unknown.
const ASSUMED_FALL: f64 = 0.1;

/// Items and issues by their change since the baseline. An item is in one group only.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BaselineChanges {
    /// Items that passed and now fail or are not scored, and issues of the head only. Where one run
    /// has no judge, an item passes here by its files, its pipeline and its stages alone.
    pub new: ChangeGroup,
    /// Items that failed or were not scored and now pass, and issues of the base only.
    pub fixed: ChangeGroup,
    /// Other items whose score fell by more than noise, and issues that are more frequent by more
    /// than the margin and than noise, largest change first.
    pub worse: ChangeGroup,
    /// Items whose outcome alternated over the last runs.
    pub flaky: Vec<FlakyItem>,
    /// True if flaky items are left out of the comparison's figures and decision.
    pub flaky_left_out: bool,
    /// True if the scores of items are their `evidence.ssim_low`: neither run was judged, and one
    /// renderer drew both. False in records of earlier versions.
    #[serde(default)]
    pub by_evidence: bool,
    /// Number of items in no group, since they are in one run only, have another input there, or are
    /// scored in the head only; 0 in records of earlier versions.
    #[serde(default)]
    pub not_compared: u64,
    /// Runs that were examined for flaky items, oldest first.
    pub runs: Vec<RunId>,
    /// Fall of a score, as a share, beyond which an item is worse.
    pub worse_by: f64,
    /// Origin of that bound.
    pub worse_by_origin: FallBound,
}

impl BaselineChanges {
    /// The group of each changed item: `new`, `fixed`, `worse` or `flaky`.
    pub fn group_of_items(&self) -> HashMap<&str, &'static str> {
        let groups = [("new", &self.new), ("fixed", &self.fixed), ("worse", &self.worse)];
        let items = groups
            .into_iter()
            .flat_map(|(name, group)| group.items.iter().map(move |item| (item.id.as_str(), name)));
        items.chain(self.flaky.iter().map(|item| (item.id.as_str(), "flaky"))).collect()
    }
}

/// A group of changes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChangeGroup {
    /// Items that changed.
    pub items: Vec<ChangedItem>,
    /// Common issues.
    pub issues: Vec<IssueChange>,
}

/// An item in both runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangedItem {
    /// Id of the item.
    pub id: String,
    /// Score in the base, as a share; `None` if it is not scored there.
    pub base: Option<f64>,
    /// Score in the head.
    pub head: Option<f64>,
    /// Outcome in the head.
    pub outcome: Outcome,
    /// The kind of error in the head, if there is one.
    pub error: Option<ErrorKind>,
}

/// Origin of the fall beyond which an item is worse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FallBound {
    /// The margin, which is larger than the noise.
    Margin,
    /// The judge's noise, by repeats of one of the runs.
    Repeats,
    /// The noise from run to run, by the runs before the head.
    Runs,
    /// A tenth of the scale, since no noise is known.
    #[default]
    Assumed,
}

/// Pairs of two runs, grouped as they are added.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChangeLists {
    new: Vec<ChangedItem>,
    fixed: Vec<ChangedItem>,
    /// Items whose score fell by more than the margin; the noise is applied at the end.
    fell: Vec<(f64, ChangedItem)>,
}

/// Known estimates of the noise of a score.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FallNoise {
    /// Variance of a judgment, by repeats.
    pub(crate) judgment: Option<f64>,
    /// Judgments of each item in base and head.
    pub(crate) repeats: (u32, u32),
    /// Variance of an item's mean score from run to run.
    pub(crate) runs: Option<f64>,
}

impl ChangeLists {
    /// Adds a pair.
    pub(super) fn add_pair(
        &mut self,
        base: &ItemValues,
        head: &ItemValues,
        margin: f64,
        scoring: ItemScoring<'_>,
    ) {
        let (outcome, error) = head.unscored().unwrap_or((Outcome::Scored, None));
        let score = |item| scoring.score(item).map(round_stable);
        let changed = || ChangedItem {
            id: head.id.clone(),
            base: score(base),
            head: score(head),
            outcome,
            error,
        };
        if scoring.is_one_judged() {
            if let Some((outcome, error)) = scoring.stage_failure(base, head) {
                self.new.push(ChangedItem { outcome, error, ..changed() });
            } else if scoring.stage_failure(head, base).is_some() {
                let (outcome, error) = (Outcome::Scored, None);
                self.fixed.push(ChangedItem { outcome, error, ..changed() });
            }
            return;
        }
        // Runs with the judge off have no verdict: every scored item has passed.
        let passed = |item: &ItemValues, other: &ItemValues| {
            item.scored > 0
                && scoring.succeeds(item).unwrap_or(true)
                && !scoring.lacks_stage(item, other)
        };
        match (passed(base, head), passed(head, base)) {
            (true, false) => self.new.push(changed()),
            (false, true) => self.fixed.push(changed()),
            _ => {
                let fell = scoring.fall(base, head).filter(|fall| *fall > margin);
                self.fell.extend(fell.map(|fall| (fall, changed())));
            }
        }
    }

    /// Removes falls of scores that another renderer may have caused.
    pub(super) fn remove_falls(&mut self) {
        self.fell.clear();
    }

    /// The changes, by the noise, the stability of the items and the issues.
    pub(crate) fn finish(
        self,
        margin: f64,
        noise: FallNoise,
        stability: &ItemStability,
        issues: &IssueChanges,
    ) -> BaselineChanges {
        let (worse_by, worse_by_origin) = noise.bound(margin);
        let mut fell: Vec<_> = self.fell.into_iter().filter(|(fall, _)| *fall > worse_by).collect();
        fell.sort_by(|(left, _), (right, _)| right.total_cmp(left));
        let worse = fell.into_iter().map(|(_, item)| item).collect();
        let more = issues.more_frequent.iter().filter(|issue| issue.is_significant());
        let more: Vec<_> = more.cloned().collect();
        let group = |items, issues: &[IssueChange]| ChangeGroup { items, issues: issues.to_vec() };
        BaselineChanges {
            new: group(self.new, &issues.new),
            fixed: group(self.fixed, &issues.gone),
            worse: group(worse, &more),
            flaky: stability.flaky.values().cloned().collect(),
            flaky_left_out: false,
            by_evidence: false,
            not_compared: 0,
            runs: stability.runs.clone(),
            worse_by,
            worse_by_origin,
        }
    }
}

impl FallNoise {
    /// The fall beyond which an item is worse.
    fn bound(self, margin: f64) -> (f64, FallBound) {
        let (base, head) = self.repeats;
        let by_repeats = self.judgment.map(|variance| {
            let share = |repeats: u32| 1.0 / f64::from(repeats.max(1));
            (variance * (share(base) + share(head)), FallBound::Repeats)
        });
        let by_runs = self.runs.map(|variance| (variance * 2.0, FallBound::Runs));
        match by_repeats.or(by_runs) {
            None => (ASSUMED_FALL.max(margin), FallBound::Assumed),
            Some((variance, origin)) => match DEVIATIONS * variance.sqrt() {
                bound if bound > margin => (round_stable(bound), origin),
                _ => (margin, FallBound::Margin),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bound_is_three_standard_deviations_and_never_below_the_margin() {
        let repeats = FallNoise { judgment: Some(0.0016), repeats: (1, 4), runs: Some(0.01) };
        let (bound, origin) = repeats.bound(0.01);
        // 3 · √(0.0016 · (1 + 1/4))
        assert!((bound - 0.134_164).abs() < 1e-6, "{bound}");
        assert_eq!(origin, FallBound::Repeats);
        let runs = FallNoise { runs: Some(0.0002), repeats: (1, 1), judgment: None };
        assert_eq!(runs.bound(0.01), (0.06, FallBound::Runs));
        assert_eq!(runs.bound(0.07), (0.07, FallBound::Margin));
        let cached = FallNoise { runs: Some(0.0), repeats: (1, 1), judgment: None };
        assert_eq!(cached.bound(0.01), (0.01, FallBound::Margin));
        assert_eq!(FallNoise::default().bound(0.01), (0.1, FallBound::Assumed));
    }
}
