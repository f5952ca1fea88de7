//! Operations on the budgets of runs, of labels and of all calls.

use crate::admission::{
    Budget, MonthLedger, RunAccount,
    records::LedgerRecords,
    scope::{Period, Scope, SharedBudget},
};
use juror_types::{budget_label::BudgetLabel, id::RunId, usage::Money};

/// Writes the budget of a run. Ends a stop after an overrun: opening it again is a deliberate
/// decision.
pub fn open_run<B: LedgerRecords>(
    records: &mut B,
    run: &RunId,
    budget: Budget,
) -> Result<(), B::Error> {
    let scope = Scope::Run(run.clone());
    records.set_budget(&scope.budget_key(), budget)?;
    records.change_account(&scope, |account| account.stopped = false)
}

/// Books the cost of a run's results by its journal, as far as its account lacks it, also on the
/// current day and month and on those of its labels. `unattributed_cost` is the cost of calls of unfinished
/// jobs, which is in no result.
pub fn book_journal<B: LedgerRecords>(
    records: &mut B,
    run: &RunId,
    (spent, unattributed_cost): (Money, Money),
    now: i64,
) -> Result<(), B::Error> {
    let account = records.account(&Scope::Run(run.clone()))?;
    let missing = spent - (account.committed - account.presumed - unattributed_cost);
    if missing <= Money::ZERO {
        return Ok(());
    }
    let day = records.calendar()?.day_of(now);
    for scope in Scope::all_of(run, &records.labels(run)?, day) {
        records.change_account(&scope, |account| account.committed += missing)?;
    }
    Ok(())
}

/// Counts calls of a run under these labels too, from now on. A label without a cap gets unlimited
/// ones.
pub fn set_budget_labels<B: LedgerRecords>(
    records: &mut B,
    run: &RunId,
    labels: &[BudgetLabel],
) -> Result<(), B::Error> {
    for label in labels {
        open_budget_label(records, label)?;
    }
    records.set_labels(run, labels)
}

/// Sets the cap of a shared budget; returns the previous one. A label has caps for days and for
/// months from then on.
pub fn set_cap<B: LedgerRecords>(
    records: &mut B,
    budget: &SharedBudget,
    cap: Budget,
) -> Result<Option<Budget>, B::Error> {
    if let Some(label) = &budget.label {
        open_budget_label(records, label)?;
    }
    let before = records.budget(&budget.key())?;
    records.set_budget(&budget.key(), cap)?;
    Ok(before)
}

/// The ledger of a run; `None` if the run has no budget record.
pub fn ledger<B: LedgerRecords>(
    records: &B,
    run: &RunId,
    now: i64,
) -> Result<Option<RunAccount>, B::Error> {
    let scope = Scope::Run(run.clone());
    let Some(budget) = records.budget(&scope.budget_key())? else { return Ok(None) };
    let (account, month) = (records.account(&scope)?, month_ledger(records, now)?);
    // Claims belong to the store: a backend adds the cost that they carry.
    Ok(Some(RunAccount::new(budget, account, Money::ZERO, month)))
}

fn open_budget_label<B: LedgerRecords>(
    records: &mut B,
    label: &BudgetLabel,
) -> Result<(), B::Error> {
    for period in Period::ALL {
        let key = SharedBudget { period, label: Some(label.clone()) }.key();
        if records.budget(&key)?.is_none() {
            records.set_budget(&key, Budget::Unlimited)?;
        }
    }
    Ok(())
}

fn month_ledger<B: LedgerRecords>(records: &B, now: i64) -> Result<MonthLedger, B::Error> {
    let day = records.calendar()?.day_of(now);
    let scope = SharedBudget::from(Period::Month).scope(day);
    let budget = records.budget(&scope.budget_key())?;
    Ok(MonthLedger { day, budget, committed: records.account(&scope)?.committed })
}
