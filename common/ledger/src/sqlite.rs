//! `juror.db`: ledger, claims, results and reply cache of one machine, in one SQLite file.
//!
//! The ledger implements both [`crate::admission::Admission`] and [`crate::job_store::JobStore`],
//! so that a bill and its result are written in one step. Several processes may share the file:
//! every decision reads its rows inside its transaction. The tables are in `schema`.

mod admission;
mod batch_records;
mod batches;
mod budgets;
mod claim_records;
mod deletion;
pub(crate) mod failure;
mod fsync_thread;
mod job_store;
pub(crate) mod records;
mod reply_cache;
mod schema;
mod statements;
mod stored_results;
pub(crate) mod write_back;
mod writer;
pub(crate) mod writer_memory;

use crate::{clock::Clock, error::LedgerError};
use parking_lot::Mutex;
use std::{collections::HashMap, path::Path, sync::Arc};
use tokio::sync::watch;
use writer::Writer;
use writer_memory::Memory;

/// An open `juror.db`, shared by `Arc` and closed by [`SqliteLedger::close`].
pub struct SqliteLedger {
    pub(crate) writer: Writer,
    pub(crate) changes: watch::Receiver<u64>,
    /// Limits of endpoints that were reported to the writer last.
    pub(crate) reported: Mutex<HashMap<String, ReportedLimits>>,
}

/// Requests and tokens per minute, as a provider reports them.
pub(crate) type ReportedLimits = (Option<u64>, Option<u64>);

impl SqliteLedger {
    /// Opens the file, creating it if there is none; its folder must exist. Blocks while another
    /// process writes, at most 10 s.
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
        Ok(Self { writer, changes, reported: Mutex::default() })
    }

    /// Finishes pending operations, closes the file and joins its thread. Later operations fail.
    /// Remaining leases are presumed spent once their owner's heartbeat is old.
    pub async fn close(&self) {
        self.writer.close().await;
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod differential_tests;
