//! Refusal of a new run whose name a ledger still counts money under.

use crate::{error::AppError, local_ledger::ledger_file, settings::Settings};
use juror_ledger::{
    admission::Scope,
    budgets::{BudgetRecords, Spending},
};
use juror_types::{id::RunId, usage::Money};

/// The ledger in which the name of a new run must be free.
#[derive(Clone, Copy)]
pub enum LedgerPlace<'a> {
    /// `juror.db` of these settings. It keeps a run's results for as long as its budget, and they
    /// would be taken for the new run's.
    Machine(&'a Settings),
    /// The Redis of the fleet of this namespace, which forgets all of a run but its money. A run
    /// that was never announced may have a budget.
    Fleet(&'a str),
}

/// Refuses a new run under the name of one that is gone, while the ledger is not.
///
/// # Errors
/// [`AppError::Conflict`], with the remedy, or a ledger that does not answer.
pub async fn refuse_leftovers(
    records: &dyn BudgetRecords,
    run: &RunId,
    place: LedgerPlace<'_>,
) -> Result<(), AppError> {
    let spending = records.spending(&[Scope::Run(run.clone())]).await.map_err(AppError::from)?;
    let has_money = |of: &Spending| of.account.committed + of.account.outstanding > Money::ZERO;
    let counts = spending.iter().any(|of| match place {
        LedgerPlace::Machine(_) => of.budget.is_some() || has_money(of),
        LedgerPlace::Fleet(_) => has_money(of),
    });
    match counts {
        true => Err(AppError::conflict(place.refusal(run))),
        false => Ok(()),
    }
}

impl LedgerPlace<'_> {
    fn refusal(self, run: &RunId) -> String {
        match self {
            Self::Machine(settings) => format!(
                "run {run} is known to {} and has no directory in {}: what it spent and found \
                 still counts there; take another --run-id, or put its directory back",
                ledger_file(settings).display(),
                settings.run.runs_dir.display()
            ),
            Self::Fleet(namespace) => format!(
                "there was a run {run} before, and what it spent still counts in the ledger of \
                 the fleet {namespace}: take another --run-id, or, where its directory is, judge \
                 what is left of it by: juror retry {run}"
            ),
        }
    }
}
