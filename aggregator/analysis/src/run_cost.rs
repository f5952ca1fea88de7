//! Cost of a run, from its results and its ledger.

use crate::{
    fold::Spent,
    metrics::round_stable,
    run_facts::{Cost, MonthCost},
};
use juror_ledger::admission::{Budget, RunAccount};
use juror_types::{run::RunRecord, usage::Money};

/// The cost of a run by its results and its ledger; `pending` jobs have no result.
pub fn cost(record: &RunRecord, spent: Spent, ledger: Option<RunAccount>, pending: u64) -> Cost {
    // A lease that is outstanding while the report is written belongs to an interrupted call, or to
    // one in flight: either may cost its worst case.
    let figure = |of: fn(RunAccount) -> Money| ledger.map(of).unwrap_or_default().max(Money::ZERO);
    let outstanding = figure(|ledger| ledger.outstanding);
    let presumed = figure(|ledger| ledger.presumed) + outstanding;
    let total_usd = spent.total(ledger.as_ref());
    let expected = spent.estimate.map(|estimate| estimate.expected_usd);
    let estimate_error =
        expected.filter(|expected| pending == 0 && expected.pico() > 0).map(|expected| {
            round_stable(
                (total_usd - expected).approximate_dollars() / expected.approximate_dollars(),
            )
        });
    Cost {
        total_usd,
        results_usd: spent.cost,
        presumed_usd: presumed,
        presumed_probable_usd: spent
            .single_calls
            .probable_cost(presumed)
            .filter(|_| presumed > Money::ZERO),
        in_flight_usd: Money::ZERO,
        estimated_usd: expected,
        worst_case_usd: spent.estimate.map(|estimate| estimate.worst_case_usd),
        estimate_error,
        overrun_usd: ledger.map(|ledger| ledger.overrun).unwrap_or_default(),
        budget_usd: match ledger {
            Some(ledger) => ledger.budget.cap(),
            None => record.budget_usd,
        },
        month: ledger.and_then(|ledger| ledger.month).map(|month| MonthCost {
            month: month.day,
            spent_usd: month.committed + outstanding,
            budget_usd: month.budget.and_then(Budget::cap),
        }),
        input_tokens: spent.usage.input_tokens,
        cached_input_tokens: spent.usage.cached_input_tokens,
        output_tokens: spent.usage.output_tokens,
        calls: spent.calls,
        cached_verdicts: spent.cached,
        unmetered_calls: spent.unmetered_calls,
    }
}
