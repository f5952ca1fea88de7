//! Budgets of a run, and time zone and caps of shared budgets, as settings give them.

use super::BudgetRecords;
use crate::{
    admission::{Admission, Budget, BudgetCalendar, BudgetSettings},
    error::LedgerError,
};
use juror_types::{run::RunRecord, usage::Money};
use std::fmt;

/// A change of the time zone of days and months.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZoneChange {
    /// The zone from now on.
    pub now: BudgetCalendar,
    /// The zone before.
    pub before: BudgetCalendar,
}

impl fmt::Display for ZoneChange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { now, before } = self;
        write!(formatter, "days and months of budgets begin in {now} from now on; before: {before}")
    }
}

/// Writes the cap of a run as its record has it, and the caps of all runs and of labels per day and
/// month as the settings have them. The cap of a day or a month stays in force until it is replaced
/// or lifted. The run's `spent` cost by its journal is booked in the same step as its budget, in
/// case the ledger has lost it.
pub async fn open_run<Backend: Admission + BudgetRecords>(
    backend: &Backend,
    record: &RunRecord,
    settings: &BudgetSettings,
    spent: Money,
) -> Result<Option<ZoneChange>, LedgerError> {
    backend.set_budget_labels(&record.run_id, &record.budget_labels).await?;
    // Opening a run writes unlimited day and month budgets where there is no record.
    let budget = record.budget_usd.map_or(Budget::Unlimited, Budget::Cap);
    backend.open_run_again(&record.run_id, budget, spent).await?;
    apply(backend, settings).await
}

/// A warning if the settings give another zone than the ledger's, which alone decides.
pub async fn zone_difference(
    records: &dyn BudgetRecords,
    settings: &BudgetSettings,
) -> Result<Option<String>, LedgerError> {
    let Some(given) = &settings.zone else { return Ok(None) };
    let zone = records.calendar().await?;
    let differs = zone != *given;
    Ok(differs.then(|| {
        format!(
            "budget.zone is {given} in these settings, but the ledger's days and months \
             begin in {zone}: a run that is opened with these settings changes it; give every \
             process the same zone"
        )
    }))
}

/// Writes the zone and the caps that the settings give; others stay in force, since they may be
/// another user's.
async fn apply(
    records: &dyn BudgetRecords,
    settings: &BudgetSettings,
) -> Result<Option<ZoneChange>, LedgerError> {
    let mut change = None;
    if let Some(now) = &settings.zone {
        let before = records.set_calendar(now).await?;
        change = (before != *now).then(|| ZoneChange { now: now.clone(), before });
    }
    for (budget, cap) in settings.shared_caps() {
        records.set_cap(&budget, cap).await?;
    }
    Ok(change)
}
