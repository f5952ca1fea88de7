//! State of the writer beside the database; a failed transaction rolls it back too.

use super::{records::SqliteRecords, statements::execute, write_back::WriteBackCache};
use crate::{
    admission::{
        records::LedgerRecords as _,
        state_machine::{self, RateLimiterState},
    },
    clock::Clock,
};
use juror_types::id::OwnerId;
use rusqlite::{Connection, Result, Transaction, params};
use std::collections::BTreeSet;
use tokio::sync::watch;

/// Time for which an ended lease is kept after its admission, in milliseconds: a week, longer than
/// a suspended process sleeps before it settles a call.
const ENDED_LEASE_TTL: i64 = 7 * 24 * 60 * 60 * 1_000;
/// Interval between searches for ended leases once none is left, in milliseconds.
const CLEANUP_INTERVAL: i64 = 60 * 60 * 1_000;
/// Maximum number of leases that one transaction deletes: some tens of milliseconds.
const MAX_DELETED_LEASES: u32 = 10_000;

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

    /// Writes the cached records and commits.
    pub fn commit(&self, transaction: Transaction<'_>) -> Result<()> {
        self.cache.write(&transaction)?;
        transaction.commit()
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

    /// The ledger's records.
    pub fn records<'a>(&'a self, connection: &'a Connection) -> SqliteRecords<'a> {
        SqliteRecords(connection, &self.cache)
    }

    /// The ledger's records, the rate limits, and the time.
    pub fn parts<'a>(
        &'a mut self,
        connection: &'a Connection,
    ) -> (SqliteRecords<'a>, &'a mut RateLimiterState, i64) {
        let now = self.now();
        (SqliteRecords(connection, &self.cache), &mut self.limiter, now)
    }

    /// Sends the heartbeat of this process's owners, and presumes spent the leases of owners
    /// without one.
    pub fn send_heartbeats_and_sweep(&mut self, connection: &Connection) -> Result<()> {
        let now = self.now();
        let mut records = self.records(connection);
        for owner in &self.owners {
            records.record_heartbeat(owner, now)?;
        }
        let presumed = state_machine::sweep(&mut records, now)?;
        execute(
            connection,
            "DELETE FROM owners WHERE beat_ms < ?1 AND NOT EXISTS
                 (SELECT 1 FROM leases WHERE leases.owner = owners.owner
                      AND standing = 'outstanding')",
            [now - state_machine::OWNER_TIMEOUT],
        )?;
        if presumed > 0 {
            self.mark_changed();
        }
        self.delete_ended_leases(connection)
    }

    /// Deletes leases that ended long ago, a batch at a time: accounts include their cost, and they
    /// will not be settled again.
    pub fn delete_ended_leases(&mut self, connection: &Connection) -> Result<()> {
        let now = self.now();
        if now < self.next_clearing {
            return Ok(());
        }
        let deleted = execute(
            connection,
            "DELETE FROM leases WHERE lease IN
                 (SELECT lease FROM leases WHERE standing <> 'outstanding' AND admitted_ms < ?1
                  LIMIT ?2)",
            params![now - ENDED_LEASE_TTL, MAX_DELETED_LEASES],
        )?;
        if deleted < MAX_DELETED_LEASES as usize {
            self.next_clearing = now + CLEANUP_INTERVAL;
        }
        Ok(())
    }
}
