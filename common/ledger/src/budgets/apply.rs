//! Budgets of a run, and zone and caps of those that runs share, as settings give them.

use super::BudgetRecords;
use crate::{
    admission::{Admission, Budget, BudgetCalendar, BudgetSettings},
    error::LedgerError,
};
use juror_types::{run::RunRecord, usage::Money};
use std::fmt;

/// Another time zone of days and months than before.
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

/// Writes down what a run may cost, and what all runs and those of a label may cost in a day and a
/// month. A cap on a day or a month stands until another is given, or it is lifted. What the run
/// has `spent` by its journal is booked in the same step as its budget, should the ledger have
/// forgotten it.
pub async fn open_run<Backend: Admission + BudgetRecords>(
    backend: &Backend,
    record: &RunRecord,
    settings: &BudgetSettings,
    spent: Money,
) -> Result<Option<ZoneChange>, LedgerError> {
    backend.label_run(&record.run_id, &record.budget_labels).await?;
    // Opening a run leaves day and month unlimited if there is no word on them yet.
    let budget = settings.run_usd.map_or(Budget::Unlimited, Budget::Cap);
    backend.open_run_again(&record.run_id, budget, spent).await?;
    apply(backend, settings).await
}

/// Writes down the zone and the caps that the settings give; whatever they do not give stands. It
/// may be another user's.
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

/// Warning where a process has another zone in its settings than the ledger, which alone decides.
pub async fn zone_difference(
    records: &dyn BudgetRecords,
    settings: &BudgetSettings,
) -> Result<Option<String>, LedgerError> {
    let Some(given) = &settings.zone else { return Ok(None) };
    let zone = records.calendar().await?;
    let differs = zone != *given;
    Ok(differs.then(|| {
        format!(
            "budget.zone is {given} in these settings, and days and months of the ledger's budgets \
             begin in {zone}: a run that is opened by these settings changes that; give every \
             process the same zone"
        )
    }))
}
