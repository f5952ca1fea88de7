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

/// Squared differences of all items.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct RunNoise {
    /// Between runs that judged the same inputs.
    same_inputs: SuccessiveDifferences,
    /// Between all runs.
    all: SuccessiveDifferences,
}

/// A result as far as stability depends on it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TrackedResult {
    /// Digest of the first image.
    pub image: Option<Digest>,
    /// Hash of the digests of all inputs.
    pub inputs: u64,
    /// 1 if it passed; none if it is not scored.
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
    /// True if two successive runs judged the same inputs.
    repeats_inputs: bool,
    same_inputs: OutcomeChanges,
    all: OutcomeChanges,
    /// Inputs and mean score in the last run that judged it.
    last_judged: Option<(u64, f64)>,
    noise: RunNoise,
    /// Values of the current run.
    results: u32,
    inputs: u64,
    judged_anew: u32,
    passes: Sums,
    scores: Sums,
}

/// Changes of an item's outcome between successive runs.
#[derive(Clone, Copy, Debug, Default)]
struct OutcomeChanges {
    /// Changes between passed and failed.
    count: u32,
    /// Returns to passing after it had passed and failed.
    recoveries: u32,
}

impl OutcomeChanges {
    fn add(&mut self, has_changed: bool, outcome: NightOutcome) {
        let is_recovery = has_changed && self.count > 0 && outcome == NightOutcome::Passed;
        self.recoveries += u32::from(is_recovery);
        self.count += u32::from(has_changed);
    }
}

impl SuccessiveDifferences {
    fn add(&mut self, others: Self) {
        self.count += others.count;
        self.squares += others.squares;
    }

    /// Variance of a score around its item's mean; none with too few differences.
    fn variance(&self) -> Option<f64> {
        (self.count >= MIN_DIFFERENCES).then(|| self.squares / self.count as f64 / 2.0)
    }
}

impl RunNoise {
    pub(super) fn add(&mut self, others: Self) {
        self.same_inputs.add(others.same_inputs);
        self.all.add(others.all);
    }

    /// Variance of a score between runs: by the same inputs, since a change of the code is no noise;
    /// by all where a pipeline makes other code in each run; none with too few differences.
    pub(super) fn variance(&self) -> Option<f64> {
        self.same_inputs.variance().or_else(|| self.all.variance())
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
                let has_changed = last != outcome;
                self.all.add(has_changed, outcome);
                if inputs == self.inputs {
                    self.repeats_inputs = true;
                    self.same_inputs.add(has_changed, outcome);
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
            self.noise.all.add(difference);
            if inputs == self.inputs {
                self.noise.same_inputs.add(difference);
            }
        }
        self.last_judged = Some((self.inputs, score));
    }

    /// True if the item passed, failed, and passed again: a fixed item that fails again is no
    /// noise, and neither is one that keeps failing.
    pub(super) fn is_flaky(&self) -> bool {
        let decided = self.outcomes.iter().rev().filter(|each| **each != NightOutcome::NotScored);
        let failures = decided.take_while(|outcome| **outcome == NightOutcome::Failed).count();
        self.changes().recoveries > 0 && failures < MAX_FAILURES
    }

    /// Changes with the same inputs; all, where a pipeline makes other code in each run.
    fn changes(&self) -> OutcomeChanges {
        if self.repeats_inputs { self.same_inputs } else { self.all }
    }

    pub(super) fn noise(&self) -> RunNoise {
        self.noise
    }

    /// The outcome in each run, oldest first, and the number of changes.
    pub(super) fn into_outcomes(self) -> (Vec<NightOutcome>, u32) {
        let changes = self.changes().count;
        (self.outcomes, changes)
    }
}
