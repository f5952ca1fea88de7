//! State of the writer beside the database; a failed transaction rolls it back too.

use super::failure::SqliteFailure;
use crate::clock::Clock;
use crate::{
    admission::{
        records::LedgerRecords as _,
        state_machine::{self, RateLimiterState},
    },
    sqlite::{records::SqliteRecords, write_back::WriteBackCache},
};
use juror_types::id::OwnerId;
use rusqlite::Connection;
use std::collections::BTreeSet;
use tokio::sync::watch;

/// Time for which an ended lease is kept after its admission, in milliseconds: a week, longer than
/// a suspended process sleeps before it settles a call.
const ENDED_LEASE_TTL: i64 = 7 * 24 * 60 * 60 * 1_000;
/// Interval between searches for ended leases once none is left, in milliseconds.
const CLEANUP_INTERVAL: i64 = 60 * 60 * 1_000;
/// Maximum number of leases that one transaction deletes: some tens of milliseconds.
const MAX_DELETED_LEASES: usize = 10_000;

/// Rate limits, wait queue, owners of this process, and changes to notify waiting callers of.
#[derive(Clone)]
pub struct Memory {
    /// Rate limits and waiting calls.
    pub limiter: RateLimiterState,
    /// Owners whose heartbeat this process sends.
    pub owners: BTreeSet<OwnerId>,
    /// Budgets and accounts within the current transaction.
    pub cache: WriteBackCache,
    clock: Clock,
    /// Time of the next search for ended leases.
    next_clearing: i64,
    freed: bool,
    changes: watch::Sender<u64>,
}

impl Memory {
    /// A state without any records.
    pub fn new(clock: Clock, changes: watch::Sender<u64>) -> Self {
        Self {
            limiter: RateLimiterState::default(),
            owners: BTreeSet::new(),
            cache: WriteBackCache::default(),
            clock,
            next_clearing: 0,
            freed: false,
            changes,
        }
    }

    /// The time, in milliseconds since 1970.
    pub fn now(&self) -> i64 {
        (self.clock)()
    }

    /// Records that a waiting call may be admitted once this transaction is committed.
    pub fn mark_changed(&mut self) {
        self.freed = true;
    }

    /// Wakes waiting callers after a commit, if it changed anything for them.
    pub fn announce(&mut self) {
        if std::mem::take(&mut self.freed) {
            self.changes.send_modify(|change| *change = change.wrapping_add(1));
        }
    }

    /// Sends the heartbeat of this process's owners, and presumes spent the leases of owners
    /// without one.
    pub fn send_heartbeats_and_sweep(
        &mut self,
        connection: &Connection,
    ) -> Result<(), SqliteFailure> {
        let now = self.now();
        let mut records = SqliteRecords(connection, &self.cache);
        for owner in &self.owners {
            records.record_heartbeat(owner, now)?;
        }
        let presumed = state_machine::sweep(&mut records, now)?;
        records.delete_idle_owners(now - state_machine::OWNER_TIMEOUT)?;
        if presumed > 0 {
            self.mark_changed();
        }
        self.delete_ended_leases(connection)
    }

    /// Deletes leases that ended long ago, a batch at a time: accounts include their cost, and they
    /// will not be settled again.
    pub fn delete_ended_leases(&mut self, connection: &Connection) -> Result<(), SqliteFailure> {
        let now = self.now();
        if now < self.next_clearing {
            return Ok(());
        }
        let records = SqliteRecords(connection, &self.cache);
        if records.delete_ended_leases(now - ENDED_LEASE_TTL, MAX_DELETED_LEASES)?
            < MAX_DELETED_LEASES
        {
            self.next_clearing = now + CLEANUP_INTERVAL;
        }
        Ok(())
    }
}
