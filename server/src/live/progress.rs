//! Progress of a run at one moment.

use juror_analysis::fold::Counts;
use juror_types::{
    outcome::{JobError, JobResult, Outcome},
    usage::Money,
};
use std::collections::VecDeque;

/// So many of the newest results are told one by one.
pub(super) const MAX_RECENT: usize = 200;

/// A run's state, and its newest results.
#[derive(Clone, Debug, Default)]
pub struct LiveState {
    /// True if its journal has been read at all.
    pub is_read: bool,
    /// Results of its journal, superseded rounds included.
    pub results: u64,
    /// Its progress.
    pub progress: LiveProgress,
    /// The newest results, oldest first.
    pub recent: VecDeque<FinishedResult>,
}

/// Progress of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LiveProgress {
    /// Jobs in all.
    pub planned: u64,
    /// Their numbers by outcome.
    pub counts: Counts,
    /// Cost of the results, superseded rounds included, and of what is presumed spent.
    pub spent_usd: Money,
    /// Possible cost of calls in flight, at worst case.
    pub in_flight_usd: Money,
    /// Budget of the run; none is unlimited.
    pub budget_usd: Option<Money>,
    /// Results per second, lately; none until there are some.
    pub rate: Option<f64>,
    /// Seconds that the rest takes at this rate.
    pub seconds_left: Option<f64>,
    /// True if a process works on it.
    pub is_running: bool,
}

/// A result, in short.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishedResult {
    /// Its number in the journal, from 1.
    pub number: u64,
    /// Its item.
    pub screenshot_id: String,
    /// Number of the item's repeat.
    pub repeat: u32,
    /// Outcome of its job.
    pub outcome: Outcome,
    /// The verdict as one number from 0 to 1, if the job is scored and has one.
    pub score: Option<f64>,
    /// Cost of its calls.
    pub cost_usd: Money,
    /// Its failure.
    pub error: Option<JobError>,
    /// True if the verdict is the simulator's.
    pub simulated: bool,
}

impl LiveProgress {
    /// Jobs that have a result.
    pub fn done(&self) -> u64 {
        self.counts.total()
    }
}

impl LiveState {
    /// Takes in the next result of the journal.
    pub(super) fn add(&mut self, result: JobResult) {
        self.results += 1;
        let verdict = result.semantic.as_ref().filter(|_| result.outcome == Outcome::Scored);
        self.recent.push_back(FinishedResult {
            number: self.results,
            score: verdict.map(|verdict| verdict.correctness()),
            repeat: result.repeat,
            outcome: result.outcome,
            cost_usd: result.cost_usd,
            simulated: result.judge.as_ref().is_some_and(|judge| judge.simulated),
            error: result.error,
            screenshot_id: result.screenshot_id,
        });
        if self.recent.len() > MAX_RECENT {
            self.recent.pop_front();
        }
    }
}
