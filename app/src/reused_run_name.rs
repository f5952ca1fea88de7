//! Refusal of a new run whose name has spending in the ledger.

use crate::{error::AppError, local_ledger::ledger_file, settings::Settings};
use juror_ledger::{
    admission::Scope,
    budgets::{BudgetRecords, Spending},
};
use juror_types::{id::RunId, usage::Money};

/// The ledger that is checked for a new run's name.
#[derive(Clone, Copy)]
pub enum LedgerPlace<'a> {
    /// `juror.db` of these settings. It keeps results with the budget, which would be taken for
    /// the new run's.
    Machine(&'a Settings),
    /// Redis of the fleet of this namespace, in which everything but the spending of a run expires.
    /// A run that was never announced may have a budget.
    Fleet(&'a str),
}

impl LedgerPlace<'_> {
    fn refusal(self, run: &RunId) -> String {
        match self {
            Self::Machine(settings) => format!(
                "run {run} is in {} but has no directory in {}: its spending and results still \
                 count there; use another --run-id, or restore its directory",
                ledger_file(settings).display(),
                settings.run.runs_dir.display()
            ),
            Self::Fleet(namespace) => format!(
                "an earlier run {run} still counts in the ledger of fleet {namespace}: use another \
                 --run-id, or judge its remaining jobs where its directory is, with: juror retry {run}"
            ),
        }
    }
}

/// Refuses a new run under the name of a removed one that is still in the ledger.
///
/// # Errors
/// [`AppError::Conflict`], with the remedy, or an unavailable ledger.
pub async fn refuse_reused_name(
    records: &dyn BudgetRecords,
    run: &RunId,
    place: LedgerPlace<'_>,
) -> Result<(), AppError> {
    let spending = records.spending(&[Scope::Run(run.clone())]).await?;
    let has_money = |run: &Spending| run.account.committed + run.account.outstanding > Money::ZERO;
    let is_known = spending.iter().any(|run| match place {
        LedgerPlace::Machine(_) => run.budget.is_some() || has_money(run),
        LedgerPlace::Fleet(_) => has_money(run),
    });
    match is_known {
        true => Err(AppError::conflict(place.refusal(run))),
        false => Ok(()),
    }
}
