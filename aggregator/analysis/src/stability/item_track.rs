//! Outcomes of an item over successive runs.

use super::NightOutcome;
use crate::metrics::Sums;
use juror_types::id::Digest;

/// Minimum number of differences for an estimate of the noise between runs.
const MIN_DIFFERENCES: u64 = 20;

/// Squared differences between the scores of one item in successive runs.
///
/// Half of their mean estimates the variance of a score (von Neumann 1941), with hardly any
/// contribution of a slow change.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct SuccessiveDifferences {
    count: u64,
    squares: f64,
}

/// An item in the runs so far.
#[derive(Clone, Debug, Default)]
pub(super) struct ItemTrack {
    input: Option<Digest>,
    outcomes: Vec<NightOutcome>,
    /// Passed or failed in the last run that scored it.
    last_decided: Option<NightOutcome>,
    /// Changes between passed and failed.
    changes: u32,
    /// Returns to passing after it had passed and failed.
    recoveries: u32,
    /// Mean score in the last run that scored it.
    last_score: Option<f64>,
    differences: SuccessiveDifferences,
    /// Values of the current run.
    results: u32,
    passes: Sums,
    scores: Sums,
}

impl SuccessiveDifferences {
    pub(super) fn add(&mut self, others: Self) {
        self.count += others.count;
        self.squares += others.squares;
    }

    /// Variance of a score around its item's mean; none with too few differences.
    pub(super) fn noise_variance(&self) -> Option<f64> {
        (self.count >= MIN_DIFFERENCES).then(|| self.squares / self.count as f64 / 2.0)
    }
}

impl ItemTrack {
    /// Adds a judgment of the current run. Another input resets the item.
    pub(super) fn add(&mut self, input: Option<Digest>, passed: Option<f64>, score: Option<f64>) {
        if self.input.is_some() && input.is_some() && self.input != input {
            *self = Self::default();
        }
        self.input = input.or(self.input);
        self.results += 1;
        passed.into_iter().for_each(|value| self.passes.add(value));
        score.into_iter().for_each(|value| self.scores.add(value));
    }

    /// Ends the current run; a run without a result of the item is ignored.
    pub(super) fn end_run(&mut self) {
        if self.results == 0 {
            return;
        }
        let outcome = match self.passes.mean() {
            Some(share) if share > 0.5 => NightOutcome::Passed,
            Some(_) => NightOutcome::Failed,
            None => NightOutcome::NotScored,
        };
        self.outcomes.push(outcome);
        // An outage of the judge is no change of the item.
        if outcome != NightOutcome::NotScored {
            let has_changed = self.last_decided.is_some_and(|last| last != outcome);
            self.recoveries +=
                u32::from(has_changed && self.changes > 0 && outcome == NightOutcome::Passed);
            self.changes += u32::from(has_changed);
            self.last_decided = Some(outcome);
        }
        if let Some(score) = self.scores.mean() {
            if let Some(last) = self.last_score {
                let square = (score - last).powi(2);
                self.differences.add(SuccessiveDifferences { count: 1, squares: square });
            }
            self.last_score = Some(score);
        }
        (self.results, self.passes, self.scores) = (0, Sums::default(), Sums::default());
    }

    /// True if the item passed, failed, and passed again: a fixed item that fails again is no
    /// noise.
    pub(super) fn is_flaky(&self) -> bool {
        self.recoveries > 0
    }

    pub(super) fn differences(&self) -> SuccessiveDifferences {
        self.differences
    }

    /// The outcome in each run, oldest first, and the number of changes.
    pub(super) fn into_outcomes(self) -> (Vec<NightOutcome>, u32) {
        (self.outcomes, self.changes)
    }
}
