//! Leases whose calls may have been charged without a known bill: they count as spent at their
//! worst case.

use crate::admission::records::{LeaseState, LedgerRecords};
use juror_types::id::{LeaseId, OwnerId, RunId};

/// Time without a heartbeat after which an owner counts as gone, in milliseconds: four heartbeats
/// of 15 s.
pub const OWNER_TIMEOUT: i64 = 60_000;

/// Counts a lease as spent at its worst case.
pub fn presume_spent<B: LedgerRecords>(records: &mut B, id: &LeaseId) -> Result<(), B::Error> {
    let Some(mut lease) = records.outstanding_lease(id)? else { return Ok(()) };
    for scope in lease.scopes() {
        records.change_account(&scope, |account| {
            account.outstanding -= lease.worst_cost;
            account.committed += lease.worst_cost;
            account.presumed += lease.worst_cost;
        })?;
    }
    lease.lease_state = LeaseState::Presumed;
    records.set_lease(id, &lease)
}

/// Presumes spent the leases of owners that are gone; returns their number.
pub fn sweep<B: LedgerRecords>(records: &mut B, now: i64) -> Result<usize, B::Error> {
    let orphans = records.leases_of_silent_owners(now.saturating_sub(OWNER_TIMEOUT))?;
    presume_all(records, &orphans)
}

/// Presumes spent the leases of earlier owners of a run; returns their number. Only for a caller
/// with proof that they are dead.
pub fn adopt<B: LedgerRecords>(
    records: &mut B,
    run: &RunId,
    owner: &OwnerId,
) -> Result<usize, B::Error> {
    let orphans = records.leases_of_others(run, owner)?;
    presume_all(records, &orphans)
}

fn presume_all<B: LedgerRecords>(records: &mut B, leases: &[LeaseId]) -> Result<usize, B::Error> {
    for lease in leases {
        presume_spent(records, lease)?;
    }
    Ok(leases.len())
}
