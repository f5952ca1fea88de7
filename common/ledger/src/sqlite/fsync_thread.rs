//! Syncs commits to disk in a separate thread, so that only operations that need it wait for the
//! disk.
//!
//! A commit survives the death of this process as soon as it is written, and a power failure as
//! soon as the write-ahead log is synced. SQLite would make every commit wait for that; here bills
//! and results wait, and admissions and claims continue meanwhile. A power failure in those few
//! milliseconds can lose only an admission whose request had no time to reach the provider.

use super::{failure, writer_memory::Memory};
use crate::error::LedgerError;
use rusqlite::Connection;
use std::{
    fs::{File, OpenOptions},
    io,
    path::{Path, PathBuf},
    sync::mpsc,
    thread::JoinHandle,
    time::Duration,
};

/// Time for which the first group waits for others.
const GROUP_DELAY: Duration = Duration::from_millis(4);

/// Capacity of the channel of groups; the thread drains it completely.
const CHANNEL_CAPACITY: usize = 64;

/// An operation for the thread that owns the database, with the reply channel of its caller.
pub trait WriterOrder: Send {
    /// True if its caller waits until it is on disk.
    fn awaits_sync(&self) -> bool;
    /// Runs the operation, inside a transaction that may still be rolled back.
    fn run(&mut self, connection: &Connection, memory: &mut Memory) -> rusqlite::Result<()>;
    /// Sends the outcome of the commit to the caller.
    fn reply(self: Box<Self>, committed: Result<(), LedgerError>);
}

/// Sends committed orders to the thread.
pub struct FsyncThread {
    commits: mpsc::SyncSender<CommittedOrders>,
    thread: JoinHandle<()>,
}

impl FsyncThread {
    /// Starts the thread for the database in `file`.
    pub fn start(file: &Path) -> Result<Self, LedgerError> {
        let (commits, receiver) = mpsc::sync_channel(CHANNEL_CAPACITY);
        let mut log = file.as_os_str().to_owned();
        log.push("-wal");
        let mut disk = Disk { log: PathBuf::from(log), opened: None };
        let thread = std::thread::Builder::new()
            .name("juror-sync".to_owned())
            .spawn(move || disk.serve(&receiver))
            .map_err(|error| failure::thread_error(&error))?;
        Ok(Self { commits, thread })
    }

    /// Replies to these orders once everything committed so far is on disk. Without orders, ensures
    /// that a sync begins soon.
    pub fn reply_when_synced(&self, orders: CommittedOrders) {
        if orders.is_empty() {
            // Where the channel is full, a sync that includes these commits is about to begin.
            let _ = self.commits.try_send(orders);
        } else if let Err(mpsc::SendError(orders)) = self.commits.send(orders) {
            reply(orders, &Err(failure::not_synced("the sync thread has ended")));
        }
    }

    /// Replies to all waiting orders and joins the thread.
    pub fn close(self) {
        drop(self.commits);
        // A panic of the thread was reported to its callers as a closed ledger already.
        let _ = self.thread.join();
    }
}

/// Orders that are committed and wait for the sync.
type CommittedOrders = Vec<Box<dyn WriterOrder>>;

/// The write-ahead log of a database.
struct Disk {
    log: PathBuf,
    opened: Option<File>,
}

impl Disk {
    fn serve(&mut self, receiver: &mpsc::Receiver<CommittedOrders>) {
        while let Ok(first) = receiver.recv() {
            // Groups that are committed meanwhile share the sync.
            std::thread::sleep(GROUP_DELAY);
            let orders = std::iter::once(first).chain(receiver.try_iter()).flatten().collect();
            let synced = self.sync().map_err(|error| {
                let error = failure::not_synced(&format!("{}: {error}", self.log.display()));
                tracing::warn!(%error, "a sync of the ledger failed");
                error
            });
            reply(orders, &synced);
        }
    }

    /// Syncs the log. SQLite keeps the same file for as long as the database is open.
    fn sync(&mut self) -> io::Result<()> {
        let log = match self.opened.take() {
            Some(log) => log,
            None => OpenOptions::new().write(true).open(&self.log)?,
        };
        self.opened.insert(log).sync_data()
    }
}

fn reply(orders: CommittedOrders, outcome: &Result<(), LedgerError>) {
    orders.into_iter().for_each(|order| order.reply(outcome.clone()));
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Waiting(mpsc::Sender<Result<(), LedgerError>>);

    impl WriterOrder for Waiting {
        fn awaits_sync(&self) -> bool {
            true
        }

        fn run(&mut self, _: &Connection, _: &mut Memory) -> rusqlite::Result<()> {
            Ok(())
        }

        fn reply(self: Box<Self>, committed: Result<(), LedgerError>) {
            self.0.send(committed).unwrap();
        }
    }

    #[test]
    fn fsync_waiters_receive_the_result() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("juror.db");
        let (sender, answers) = mpsc::channel();
        let wait = |syncer: &FsyncThread| {
            syncer.reply_when_synced(Vec::new());
            syncer.reply_when_synced(vec![Box::new(Waiting(sender.clone()))]);
            answers.recv().unwrap()
        };
        let syncer = FsyncThread::start(&file).unwrap();
        let Err(LedgerError::Unavailable(message)) = wait(&syncer) else { panic!("no log") };
        assert!(message.contains("juror.db-wal"), "{message}");
        std::fs::write(folder.path().join("juror.db-wal"), "a log").unwrap();
        assert!(wait(&syncer).is_ok());
        syncer.close();
    }
}
