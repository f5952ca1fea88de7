//! Outcomes of an item over successive runs.

use super::NightOutcome;
use crate::metrics::Sums;
use juror_types::id::Digest;

/// Number of failures in a row after which an item is no longer flaky, but broken.
const MAX_FAILURES: usize = 3;

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

/// A result as far as stability depends on it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TrackedResult {
    /// Digest of the first image.
    pub image: Option<Digest>,
    /// Hash of the digests of all inputs.
    pub inputs: u64,
    /// 1 if it passed; `None` if it is not scored.
    pub passed: Option<f64>,
    /// Score as a share.
    pub score: Option<f64>,
    /// True if the score is that of a new judgment: neither from the cache nor without a verdict.
    pub is_judged_anew: bool,
}

/// An item in the runs so far.
#[derive(Clone, Debug, Default)]
pub(super) struct ItemTrack {
    image: Option<Digest>,
    outcomes: Vec<NightOutcome>,
    /// Inputs, and passed or failed, in the last run that scored it.
    last_decided: Option<(u64, NightOutcome)>,
    /// Inputs and mean score in the last run that judged it.
    last_judged: Option<(u64, f64)>,
    /// True if two successive runs scored the same inputs.
    pub(super) repeats_inputs: bool,
    /// Between successive runs of the same inputs.
    same_inputs: Variation,
    /// Between all successive runs.
    all: Variation,
    /// Values of the current run.
    results: u32,
    inputs: u64,
    judged_anew: u32,
    passes: Sums,
    scores: Sums,
}

/// Variation of an item between successive runs.
#[derive(Clone, Copy, Debug, Default)]
struct Variation {
    /// Changes between passed and failed.
    changes: u32,
    /// Returns to passing after it had passed and failed.
    recoveries: u32,
    /// Differences of its score.
    differences: SuccessiveDifferences,
}

impl Variation {
    fn add_outcome(&mut self, last: NightOutcome, outcome: NightOutcome) {
        let has_changed = last != outcome;
        let is_recovery = has_changed && self.changes > 0 && outcome == NightOutcome::Passed;
        self.recoveries += u32::from(is_recovery);
        self.changes += u32::from(has_changed);
    }
}

impl SuccessiveDifferences {
    pub(super) fn add(&mut self, others: Self) {
        self.count += others.count;
        self.squares += others.squares;
    }

    /// Variance of a score around its item's mean; `None` with too few differences.
    pub(super) fn variance(&self) -> Option<f64> {
        (self.count >= MIN_DIFFERENCES).then(|| self.squares / self.count as f64 / 2.0)
    }
}

impl ItemTrack {
    /// Adds a result of the current run. Another image resets the item.
    pub(super) fn add(&mut self, result: TrackedResult) {
        let TrackedResult { image, inputs, passed, score, is_judged_anew } = result;
        if self.image.is_some() && image.is_some() && self.image != image {
            *self = Self::default();
        }
        self.image = image.or(self.image);
        self.inputs = inputs;
        self.results += 1;
        self.judged_anew += u32::from(is_judged_anew);
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
            if let Some((inputs, last)) = self.last_decided {
                self.all.add_outcome(last, outcome);
                if inputs == self.inputs {
                    self.repeats_inputs = true;
                    self.same_inputs.add_outcome(last, outcome);
                }
            }
            self.last_decided = Some((self.inputs, outcome));
        }
        self.end_judgments();
        (self.results, self.judged_anew) = (0, 0);
        (self.passes, self.scores) = (Sums::default(), Sums::default());
    }

    /// Adds the difference to the last judged run. A verdict from the cache is the former one, and
    /// a score without a verdict is not the judge's: they have no noise.
    fn end_judgments(&mut self) {
        let Some(score) = self.scores.mean().filter(|_| self.judged_anew == self.results) else {
            return;
        };
        if let Some((inputs, last)) = self.last_judged {
            let difference = SuccessiveDifferences { count: 1, squares: (score - last).powi(2) };
            self.all.differences.add(difference);
            if inputs == self.inputs {
                self.same_inputs.differences.add(difference);
            }
        }
        self.last_judged = Some((self.inputs, score));
    }

    /// True if the item passed, failed, and passed again: a fixed item that fails again is no
    /// noise, and neither is one that keeps failing.
    pub(super) fn is_flaky(&self, of_same_inputs: bool) -> bool {
        let decided = self.outcomes.iter().rev().filter(|each| **each != NightOutcome::NotScored);
        let failures = decided.take_while(|outcome| **outcome == NightOutcome::Failed).count();
        self.variation(of_same_inputs).recoveries > 0 && failures < MAX_FAILURES
    }

    fn variation(&self, of_same_inputs: bool) -> Variation {
        if of_same_inputs { self.same_inputs } else { self.all }
    }

    pub(super) fn differences(&self, of_same_inputs: bool) -> SuccessiveDifferences {
        self.variation(of_same_inputs).differences
    }

    /// The outcome in each run, oldest first, and the number of changes.
    pub(super) fn into_outcomes(self, of_same_inputs: bool) -> (Vec<NightOutcome>, u32) {
        let changes = self.variation(of_same_inputs).changes;
        (self.outcomes, changes)
    }
}
