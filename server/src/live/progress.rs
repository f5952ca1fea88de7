//! Snapshot of a run's progress.

use crate::published;
use juror_types::{
    outcome::{JobError, JobResult, Outcome, OutcomeCounts},
    usage::Money,
    verdict::Verdict,
};
use serde::Serialize;
use std::collections::VecDeque;
use utoipa::ToSchema;

/// Maximum number of newest results in a state.
pub(super) const MAX_RECENT: usize = 200;

/// A run's progress with its newest results.
#[derive(Clone, Debug, Default)]
pub struct LiveState {
    /// True after the first read of the journal.
    pub is_read: bool,
    /// Number of results in the journal, superseded rounds included.
    pub results: u64,
    pub progress: LiveProgress,
    /// The newest results, oldest first.
    pub recent: VecDeque<FinishedResult>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LiveProgress {
    /// Number of all jobs.
    pub planned: u64,
    /// Number of jobs by outcome.
    pub counts: OutcomeCounts,
    /// Cost of the results, including superseded rounds and presumed spending.
    pub spent_usd: Money,
    /// Worst-case cost of calls in flight.
    pub in_flight_usd: Money,
    /// Budget of the run; none is unlimited.
    pub budget_usd: Option<Money>,
    /// Current rate, in results per second; `None` before the first results.
    pub rate: Option<f64>,
    /// Seconds to the end at this rate.
    pub seconds_left: Option<f64>,
    /// True while a process holds the run's lock.
    pub is_running: bool,
}

/// A result: the data of an event `result`.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[schema(as = Finished)]
pub struct FinishedResult {
    /// Number in the journal, from 1; the id of its event.
    #[serde(skip)]
    pub number: u64,
    /// Id of the item.
    pub screenshot_id: String,
    /// Number of the item's repeat.
    pub repeat: u32,
    #[schema(value_type = published::Outcome)]
    pub outcome: Outcome,
    /// The verdict as one number from 0 to 1, if the job is scored and has one.
    pub score: Option<f64>,
    /// Cost of its calls.
    #[schema(value_type = published::Money)]
    pub cost_usd: Money,
    /// True if the verdict is the simulator's.
    pub simulated: bool,
    #[schema(value_type = Option<published::Error>)]
    pub error: Option<JobError>,
}

impl LiveProgress {
    /// Number of jobs with a result.
    pub fn done(&self) -> u64 {
        self.counts.total()
    }
}

impl LiveState {
    /// Adds the next result of the journal.
    pub(super) fn add(&mut self, result: JobResult) {
        self.results += 1;
        self.recent.push_back(FinishedResult {
            number: self.results,
            score: result.verdict().map(Verdict::correctness),
            repeat: result.repeat,
            outcome: result.outcome,
            cost_usd: result.cost_usd,
            simulated: result.is_simulated(),
            error: result.error,
            screenshot_id: result.screenshot_id,
        });
        if self.recent.len() > MAX_RECENT {
            self.recent.pop_front();
        }
    }
}
