//! Cost and usage of a run's results.

use juror_ledger::admission::RunAccount;
use juror_types::{
    outcome::{Estimate, JobResult},
    usage::{Money, Usage},
};

/// Cost and usage of all results, including superseded rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Their costs.
    pub cost: Money,
    /// Their tokens.
    pub usage: Usage,
    /// Their calls.
    pub calls: u64,
    /// Their calls of unknown usage, which are booked at their maximum cost.
    pub unmetered_calls: u64,
    /// Verdicts that came from the cache.
    pub cached: u64,
    /// True if any verdict came from the simulator.
    pub simulated: bool,
    /// Expected cost of the jobs with calls; `None` without any.
    pub estimate: Option<Estimate>,
    /// The results of a single call each.
    pub single_calls: SingleCalls,
}

/// Sums over results of a single call each: cost and reservation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SingleCalls {
    cost: Money,
    reserved: Money,
}

impl Spent {
    /// Total cost of the run, never less than the bill: including costs that are only in the
    /// ledger.
    pub fn total(&self, ledger: Option<&RunAccount>) -> Money {
        let outstanding = ledger.map(|ledger| ledger.outstanding).unwrap_or_default();
        self.booked(ledger) + outstanding.max(Money::ZERO)
    }

    /// The spent part of the total: all except reservations of calls that may be in flight.
    pub fn booked(&self, ledger: Option<&RunAccount>) -> Money {
        let Some(ledger) = ledger else { return self.cost };
        // Settled calls of jobs without a result are only in the ledger. Results that are not in
        // the journal yet are in the ledger too, hence the maximum.
        // A ledger that has lost records may hold less than nothing: the results are the floor.
        let unattributed_cost = ledger.unattributed_cost.max(Money::ZERO);
        let reported = self.cost + ledger.presumed.max(Money::ZERO) + unattributed_cost;
        reported.max(ledger.committed)
    }

    pub(super) fn add(&mut self, result: &JobResult) {
        self.cost += result.cost_usd;
        self.usage += result.usage;
        self.calls += u64::from(result.attempts);
        self.unmetered_calls += u64::from(result.unmetered_calls);
        self.cached += u64::from(result.cached);
        self.single_calls.add(result);
        self.simulated |= result.is_simulated();
        if let Some(estimate) = result.estimate {
            let sum = self.estimate.get_or_insert_default();
            sum.expected_usd += estimate.expected_usd;
            sum.worst_case_usd += estimate.worst_job_usd;
        }
    }
}

impl SingleCalls {
    fn add(&mut self, result: &JobResult) {
        let estimate = result.estimate.filter(|_| result.attempts == 1);
        if let Some(estimate) = estimate.filter(|_| result.cost_usd > Money::ZERO) {
            self.cost += result.cost_usd;
            self.reserved += estimate.worst_case_usd;
        }
    }

    /// Probable cost of calls with this reservation whose replies are lost, by the ratio of cost to
    /// reservation of other calls. `None` without completed calls.
    pub fn probable_cost(&self, reserved: Money) -> Option<Money> {
        reserved.scaled(self.cost, self.reserved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_fixtures::judged;

    #[test]
    fn calls_of_unknown_usage_are_counted_in_each_round() {
        let mut spent = Spent::default();
        for round in [0, 1] {
            let unmetered_calls = 2;
            spent.add(&JobResult { round, unmetered_calls, ..judged("one", [9; 5], &[], &[]) });
        }
        assert_eq!(spent.unmetered_calls, 4);
    }
}
