//! What the process keeps beside the database; a failed transaction takes it back too.

use super::failure::Failure;
use crate::{
    admission::{
        books::Books as _,
        local_books::LocalBooks,
        state::{self, Desk},
    },
    id::OwnerId,
};
use rusqlite::Connection;
use std::{collections::BTreeSet, sync::Arc};
use tokio::sync::watch;

/// Tells the time, in milliseconds since 1970.
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// Rate limits, the waiting line, the owners of this process, and news for those who wait.
#[derive(Clone)]
pub struct Memory {
    /// Rate limits and who waits.
    pub desk: Desk,
    /// Owners that this process beats for.
    pub owners: BTreeSet<OwnerId>,
    clock: Clock,
    freed: bool,
    changes: watch::Sender<u64>,
}

impl Memory {
    /// Nothing known yet.
    pub fn new(clock: Clock, changes: watch::Sender<u64>) -> Self {
        Self { desk: Desk::default(), owners: BTreeSet::new(), clock, freed: false, changes }
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
    pub fn beat_and_sweep(&mut self, connection: &Connection) -> Result<(), Failure> {
        let now = self.now();
        let mut books = LocalBooks(connection);
        for owner in &self.owners {
            books.beat(owner, now)?;
        }
        if state::sweep(&mut books, now)? > 0 {
            self.frees_something();
        }
        books.forget_idle_owners(now - state::OWNER_GONE_AFTER)
    }
}
