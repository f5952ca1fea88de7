//! State of the process beside the database; a failed transaction takes it back too.

use super::failure::SqliteFailure;
use crate::clock::Clock;
use crate::{
    admission::{
        records::LedgerRecords as _,
        state::{self, RateLimiterState},
    },
    sqlite::{records::SqliteRecords, write_back::WriteBackCache},
};
use juror_types::id::OwnerId;
use rusqlite::Connection;
use std::collections::BTreeSet;
use tokio::sync::watch;

/// For how long after its admission an ended lease is kept, in milliseconds: a week, which is
/// longer than any process sleeps that will still settle a call.
const ENDED_LEASE_TTL: i64 = 7 * 24 * 60 * 60 * 1_000;
/// Interval without a search for ended leases once none is left, in milliseconds.
const BETWEEN_CLEARINGS: i64 = 60 * 60 * 1_000;
/// Leases that one transaction forgets at most: some tens of milliseconds.
const CLEARED_AT_ONCE: usize = 10_000;

/// Rate limits, the waiting line, the owners of this process, and news for those who wait.
#[derive(Clone)]
pub struct Memory {
    /// Rate limits and who waits.
    pub limiter: RateLimiterState,
    /// Owners that this process beats for.
    pub owners: BTreeSet<OwnerId>,
    /// Budgets and accounts as the transaction under way leaves them.
    pub drafts: WriteBackCache,
    clock: Clock,
    /// Time at which ended leases are looked for next.
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
            drafts: WriteBackCache::default(),
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

    /// Notes that a waiting call may get through once this transaction is committed.
    pub fn frees_something(&mut self) {
        self.freed = true;
    }

    /// After a commit: wakes those who wait, if there is reason to.
    pub fn announce(&mut self) {
        if std::mem::take(&mut self.freed) {
            self.changes.send_modify(|change| *change = change.wrapping_add(1));
        }
    }

    /// Says that this process lives and presumes spent what owners held that no longer do.
    pub fn beat_and_sweep(&mut self, connection: &Connection) -> Result<(), SqliteFailure> {
        let now = self.now();
        let mut books = SqliteRecords(connection, &self.drafts);
        for owner in &self.owners {
            books.beat(owner, now)?;
        }
        let presumed = state::sweep(&mut books, now)?;
        books.forget_idle_owners(now - state::OWNER_GONE_AFTER)?;
        if presumed > 0 {
            self.frees_something();
        }
        self.forget_ended_leases(connection)
    }

    /// Now and then forgets leases that ended long ago, some at a time: the accounts have what they
    /// cost, and nobody will settle them again.
    pub fn forget_ended_leases(&mut self, connection: &Connection) -> Result<(), SqliteFailure> {
        let now = self.now();
        if now < self.next_clearing {
            return Ok(());
        }
        let books = SqliteRecords(connection, &self.drafts);
        if books.forget_ended_leases(now - ENDED_LEASE_TTL, CLEARED_AT_ONCE)? < CLEARED_AT_ONCE {
            self.next_clearing = now + BETWEEN_CLEARINGS;
        }
        Ok(())
    }
}
