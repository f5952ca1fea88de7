//! Rule on consecutive jobs without a failure of the vision API.

use super::{Bound, GateDecision, RuleReport};
use juror_types::outcome::{ErrorKind, JobResult, Outcome};

/// The longest sequence of jobs without a `failed(api)`, in the order in which they ended. Jobs
/// without a call of the judge (answered by the cache, no output, skipped) neither lengthen nor
/// break it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApiStreak {
    /// Ended jobs that called the judge.
    pub jobs: u64,
    /// The longest sequence.
    pub longest: u64,
    current: u64,
}

impl ApiStreak {
    /// Adds the end of a job.
    pub fn add(&mut self, result: &JobResult) {
        let kind = result.error.as_ref().map(|error| error.kind);
        let is_failure = result.outcome == Outcome::Failed && kind == Some(ErrorKind::Api);
        // A failure counts without an attempt too: rate-limited calls are none.
        let is_called = is_failure || (result.attempts > 0 && !result.cached);
        if is_called && result.outcome != Outcome::Skipped {
            self.add_call(is_failure);
        }
    }

    /// Adds a job that called the judge.
    pub(super) fn add_call(&mut self, failed_at_the_api: bool) {
        self.jobs += 1;
        self.current = if failed_at_the_api { 0 } else { self.current + 1 };
        self.longest = self.longest.max(self.current);
    }

    /// Evaluates the rule; undecided where fewer jobs called the judge.
    pub(super) fn evaluate(self, wanted: u64) -> RuleReport {
        let bound = Bound::AtLeast(wanted as f64);
        let decision = match self.jobs < wanted {
            true => GateDecision::Undecided,
            false => GateDecision::met_if(self.longest >= wanted),
        };
        let longest = Some(self.longest as f64);
        RuleReport::new("consecutive_without_api_failure", longest, self.jobs, decision)
            .bounded(bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_fixtures::{bare, broken, judged, staged};

    #[test]
    fn jobs_without_a_call_do_not_count() {
        let mut cached = judged("cached", [9; 5], &[], &[]);
        (cached.cached, cached.attempts) = (true, 0);
        let skipped = broken("late", Outcome::Skipped, ErrorKind::Budget, "no budget");
        let mut unjudged = staged("unjudged");
        unjudged.attempts = 0;
        let mut streak = ApiStreak::default();
        let without_call = [cached, skipped, unjudged, bare("empty", Outcome::NoOutput)];
        without_call.iter().for_each(|result| streak.add(result));
        assert_eq!(streak, ApiStreak::default());

        let called = judged("called", [9; 5], &[], &[]);
        let failed = broken("gone", Outcome::Failed, ErrorKind::Api, "503");
        let unanswered = JobResult { attempts: 0, ..failed.clone() };
        for result in [&called, &called, &failed, &called, &without_call[0], &unanswered] {
            streak.add(result);
        }
        assert_eq!((streak.jobs, streak.longest, streak.current), (5, 2, 0));
    }
}
