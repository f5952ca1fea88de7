//! `juror.db`: ledger, claims, results and verdict cache of one machine, in one SQLite file.
//!
//! One object is both [`crate::admission::Admission`] and [`crate::store::Store`], so that a bill
//! and the result that it belongs to are written in one step. Several processes may share the
//! file: every decision reads its rows inside its transaction. The tables stand in `schema`.

mod admission;
mod batch_rows;
mod batch_shards;
mod batches;
mod budgets;
pub(crate) mod failure;
mod forget;
mod fsync_thread;
mod labels;
mod order;
pub(crate) mod records;
mod schema;
pub(crate) mod state;
pub(crate) mod store;
mod stored_results;
pub(crate) mod write_back;
mod writer;

use crate::{clock::Clock, error::LedgerError};
use state::Memory;
use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::sync::watch;
use writer::Writer;

/// An open `juror.db`. Share it by `Arc`, and [`SqliteLedger::close`] it in the end.
pub struct SqliteLedger {
    pub(crate) writer: Writer,
    pub(crate) changes: watch::Receiver<u64>,
    /// Limits of endpoints that the writer was told of last.
    pub(crate) told: Mutex<HashMap<String, ReportedLimits>>,
}

/// Requests and tokens per minute, as a provider said.
pub(crate) type ReportedLimits = (Option<u64>, Option<u64>);

impl SqliteLedger {
    /// Opens the file, creating it if there is none; its folder must exist. Blocks for as long as
    /// another process writes, at most 10 s.
    ///
    /// # Errors
    /// [`LedgerError::Unavailable`] if another process holds the file or the disk is full;
    /// [`LedgerError::Broken`] if it is damaged, unwritable, of another program or of another
    /// version.
    pub fn open(file: &Path) -> Result<Self, LedgerError> {
        Self::open_with_clock(file, Arc::new(|| jiff::Timestamp::now().as_millisecond()))
    }

    /// As [`SqliteLedger::open`], with another clock than the system's.
    pub fn open_with_clock(file: &Path, clock: Clock) -> Result<Self, LedgerError> {
        let connection = schema::open(file)?;
        let (sender, changes) = watch::channel(0);
        let writer = Writer::start(connection, Memory::new(clock, sender), file.to_owned())?;
        Ok(Self { writer, changes, told: Mutex::default() })
    }

    /// True if these limits differ from those that an endpoint told last.
    pub(crate) fn is_news(&self, endpoint: &str, limits: ReportedLimits) -> bool {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        match told.get_mut(endpoint) {
            Some(known) => std::mem::replace(known, limits) != limits,
            None => told.insert(endpoint.to_owned(), limits).is_none(),
        }
    }

    /// Finishes what was asked of it, closes the file and joins its thread. Whatever is asked
    /// later fails. What leases remain are presumed spent once their owner's heartbeat is old.
    pub async fn close(&self) {
        self.writer.close().await;
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod differential_tests;
