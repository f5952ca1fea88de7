//! Thread that owns the database connection and commits in groups: all waiting operations share one
//! transaction, and their callers get the reply after the commit, or after the sync that follows
//! it.

use super::{
    failure,
    fsync_thread::{FsyncThread, WriterOrder},
    writer_memory::Memory,
};
use crate::error::LedgerError;
use parking_lot::Mutex;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::{
    path::PathBuf,
    sync::{Arc, mpsc},
    thread::JoinHandle,
    time::{Duration, Instant},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// Capacity of the operation queue; further callers wait.
const QUEUE_CAPACITY: usize = 1_024;
/// Maximum number of operations of one transaction.
const MAX_GROUP: usize = 256;
/// Time for which the first operation of a group waits for others: locks, writes and wake-ups cost
/// more CPU than the operations themselves, and an API call takes hundreds of times as long.
const GROUP_DELAY: Duration = Duration::from_millis(1);
/// Interval at which owners renew their heartbeat, and leases of owners without one are swept.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(15);

/// Sends operations to the thread. If it is dropped without [`Writer::close`], the thread finishes
/// the waiting operations and ends.
pub struct Writer {
    free_slots: Arc<Semaphore>,
    orders: Mutex<Option<mpsc::Sender<Box<dyn WriterOrder>>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    file: PathBuf,
}

impl Writer {
    /// Starts the thread.
    pub fn start(
        connection: Connection,
        memory: Memory,
        file: PathBuf,
    ) -> Result<Self, LedgerError> {
        let (sender, receiver) = mpsc::channel();
        let syncer = FsyncThread::start(&file)?;
        let limiter = WriterThread { connection, memory, file: file.clone(), receiver, syncer };
        let thread = std::thread::Builder::new()
            .name("juror-ledger".to_owned())
            .spawn(move || limiter.serve())
            .map_err(|error| failure::thread_error(&error))?;
        Ok(Self {
            free_slots: Arc::new(Semaphore::new(QUEUE_CAPACITY)),
            orders: Mutex::new(Some(sender)),
            thread: Mutex::new(Some(thread)),
            file,
        })
    }

    /// Runs an operation inside a transaction; returns when it is committed and survives this
    /// process. The operation may run more than once, the last time alone, and only the last run
    /// counts.
    pub async fn perform<T: Send + 'static>(
        &self,
        work: impl FnMut(&Connection, &mut Memory) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, LedgerError> {
        self.submit(false, work).await
    }

    /// As [`Writer::perform`]; returns when the commit is on disk and survives a power failure.
    pub async fn perform_durably<T: Send + 'static>(
        &self,
        work: impl FnMut(&Connection, &mut Memory) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, LedgerError> {
        self.submit(true, work).await
    }

    async fn submit<T: Send + 'static>(
        &self,
        awaits_sync: bool,
        work: impl FnMut(&Connection, &mut Memory) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, LedgerError> {
        let permit = self.free_slots.clone().acquire_owned().await.map_err(|_| self.closed())?;
        let (reply, answer) = oneshot::channel();
        let order = Box::new(Work { work, awaits_sync, value: None, reply, _permit: permit });
        {
            let orders = self.orders.lock();
            let sender = orders.as_ref().ok_or_else(|| self.closed())?;
            sender.send(order).map_err(|_| self.closed())?;
        }
        answer.await.unwrap_or_else(|_| Err(self.closed()))
    }

    /// Finishes waiting operations, closes the database and joins the thread. Later operations
    /// fail.
    pub async fn close(&self) {
        drop(self.orders.lock().take());
        let thread = self.thread.lock().take();
        if let Some(thread) = thread {
            // A panic of the thread was reported to its callers as a closed ledger already.
            let _ = tokio::task::spawn_blocking(move || thread.join()).await;
        }
    }

    fn closed(&self) -> LedgerError {
        LedgerError::Broken(format!("{} is closed already", self.file.display()))
    }
}

struct Work<F, T> {
    work: F,
    awaits_sync: bool,
    value: Option<T>,
    reply: oneshot::Sender<Result<T, LedgerError>>,
    _permit: OwnedSemaphorePermit,
}

impl<F, T> WriterOrder for Work<F, T>
where
    T: Send,
    F: FnMut(&Connection, &mut Memory) -> rusqlite::Result<T> + Send,
{
    fn awaits_sync(&self) -> bool {
        self.awaits_sync
    }

    fn run(&mut self, connection: &Connection, memory: &mut Memory) -> rusqlite::Result<()> {
        self.value = Some((self.work)(connection, memory)?);
        Ok(())
    }

    fn reply(self: Box<Self>, committed: Result<(), LedgerError>) {
        // A caller that is gone needs no reply; without a value, the dropped channel reports the
        // failed writer.
        match (committed, self.value) {
            (Ok(()), Some(value)) => drop(self.reply.send(Ok(value))),
            (Ok(()), None) => {}
            (Err(error), _) => drop(self.reply.send(Err(error))),
        }
    }
}

struct WriterThread {
    connection: Connection,
    memory: Memory,
    file: PathBuf,
    receiver: mpsc::Receiver<Box<dyn WriterOrder>>,
    syncer: FsyncThread,
}

impl WriterThread {
    fn serve(mut self) {
        let mut next_heartbeat = Instant::now() + HEARTBEAT_INTERVAL;
        loop {
            let max_wait = next_heartbeat.saturating_duration_since(Instant::now());
            match self.receiver.recv_timeout(max_wait) {
                Ok(first) => {
                    std::thread::sleep(GROUP_DELAY);
                    let more = self.receiver.try_iter().take(MAX_GROUP - 1);
                    let group = std::iter::once(first).chain(more).collect();
                    self.commit(group);
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
            if Instant::now() >= next_heartbeat {
                self.heartbeat();
                next_heartbeat = Instant::now() + HEARTBEAT_INTERVAL;
            }
        }
        self.syncer.close();
    }

    /// Commits a group. If one of several operations fails, each gets its own transaction, so that
    /// the others are unaffected.
    fn commit(&mut self, mut group: Vec<Box<dyn WriterOrder>>) {
        let before = self.memory.clone();
        let changes = self.connection.total_changes();
        match self.attempt(&mut group) {
            Ok(()) => {
                self.memory.announce();
                let (durable, others): (Vec<_>, Vec<_>) =
                    group.into_iter().partition(|order| order.awaits_sync());
                others.into_iter().for_each(|order| order.reply(Ok(())));
                if !durable.is_empty() || self.connection.total_changes() != changes {
                    self.syncer.reply_when_synced(durable);
                }
            }
            Err(Aborted::ByOperation(_)) if group.len() > 1 => {
                self.memory = before;
                group.into_iter().for_each(|order| self.commit(vec![order]));
            }
            Err(Aborted::ByOperation(error) | Aborted::ByTransaction(error)) => {
                self.memory = before;
                let error = failure::explain(&error, &self.file);
                tracing::debug!(%error, "a transaction of the ledger failed");
                group.into_iter().for_each(|order| order.reply(Err(error.clone())));
            }
        }
    }

    fn attempt(&mut self, group: &mut [Box<dyn WriterOrder>]) -> Result<(), Aborted> {
        let transaction = begin(&mut self.connection).map_err(Aborted::ByTransaction)?;
        for order in group {
            order.run(&transaction, &mut self.memory).map_err(Aborted::ByOperation)?;
        }
        self.memory.commit(transaction).map_err(Aborted::ByTransaction)
    }

    /// Sends the heartbeat; a failed one is logged and repeated at the next interval.
    fn heartbeat(&mut self) {
        let before = self.memory.clone();
        let beat = begin(&mut self.connection).and_then(|transaction| {
            self.memory.send_heartbeats_and_sweep(&transaction)?;
            self.memory.commit(transaction)
        });
        match beat {
            Ok(()) => self.memory.announce(),
            Err(error) => {
                self.memory = before;
                let error = failure::explain(&error, &self.file);
                tracing::warn!(%error, "the ledger's heartbeat failed");
            }
        }
    }
}

enum Aborted {
    ByOperation(rusqlite::Error),
    ByTransaction(rusqlite::Error),
}

fn begin(connection: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
    connection.transaction_with_behavior(TransactionBehavior::Immediate)
}
