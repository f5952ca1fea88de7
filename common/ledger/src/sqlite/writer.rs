//! One thread that owns the database connection and commits in groups: whatever waits when it
//! looks goes into one transaction, and everybody is answered after the commit, or after the sync
//! that follows it.

use super::failure::{self, SqliteFailure};
use crate::error::LedgerError;
use crate::sqlite::{fsync_thread::FsyncThread, order::WriterOrder, state::Memory};
use rusqlite::{Connection, TransactionBehavior};
use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread::JoinHandle,
    time::{Duration, Instant},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// Operations that may wait; further callers wait until one of them is done.
const WAITING: usize = 1_024;
/// Operations of one transaction at most.
const GROUP: usize = 256;
/// Time for which the first of a group waits for others: locks, writes and wake-ups take more of a
/// processor than the operations themselves, and a call takes hundreds of times as long.
const GATHERING: Duration = Duration::from_millis(1);
/// Interval at which owners renew their presence, and the leases of silent ones are swept.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Hands operations to the thread. Dropped without [`Writer::close`], the thread finishes what
/// waits and ends by itself.
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
            .map_err(|error| failure::no_thread(&error))?;
        Ok(Self {
            free_slots: Arc::new(Semaphore::new(WAITING)),
            orders: Mutex::new(Some(sender)),
            thread: Mutex::new(Some(thread)),
            file,
        })
    }

    /// Runs an operation inside a transaction; returns when it is committed, so that it outlives
    /// this process. The operation may run more than once, the last time alone, and only the last
    /// run counts.
    pub async fn perform<T, F>(&self, work: F) -> Result<T, LedgerError>
    where
        T: Send + 'static,
        F: FnMut(&Connection, &mut Memory) -> Result<T, SqliteFailure> + Send + 'static,
    {
        self.order(false, work).await
    }

    /// As [`Writer::perform`]; returns when it is on the disk, so that it outlives a power cut.
    pub async fn perform_durably<T, F>(&self, work: F) -> Result<T, LedgerError>
    where
        T: Send + 'static,
        F: FnMut(&Connection, &mut Memory) -> Result<T, SqliteFailure> + Send + 'static,
    {
        self.order(true, work).await
    }

    async fn order<T, F>(&self, awaits_sync: bool, work: F) -> Result<T, LedgerError>
    where
        T: Send + 'static,
        F: FnMut(&Connection, &mut Memory) -> Result<T, SqliteFailure> + Send + 'static,
    {
        let permit = self.free_slots.clone().acquire_owned().await.map_err(|_| self.closed())?;
        let (reply, answer) = oneshot::channel();
        let order = Box::new(Work { work, awaits_sync, value: None, reply, _permit: permit });
        {
            let orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
            let sender = orders.as_ref().ok_or_else(|| self.closed())?;
            sender.send(order).map_err(|_| self.closed())?;
        }
        answer.await.unwrap_or_else(|_| Err(self.closed()))
    }

    /// Finishes what waits, closes the database and joins the thread. Later operations fail.
    pub async fn close(&self) {
        drop(self.orders.lock().unwrap_or_else(PoisonError::into_inner).take());
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // A panic of the thread was answered to its callers as a closed ledger already.
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
    F: FnMut(&Connection, &mut Memory) -> Result<T, SqliteFailure> + Send,
{
    fn awaits_sync(&self) -> bool {
        self.awaits_sync
    }

    fn run(&mut self, connection: &Connection, memory: &mut Memory) -> Result<(), SqliteFailure> {
        self.value = Some((self.work)(connection, memory)?);
        Ok(())
    }

    fn answer(self: Box<Self>, committed: Result<(), LedgerError>) {
        // A caller that is gone has no use for the answer; without a value the dropped channel
        // tells that the writer broke off.
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
        let mut next_heartbeat = Instant::now() + HEARTBEAT;
        loop {
            let max_wait = next_heartbeat.saturating_duration_since(Instant::now());
            match self.receiver.recv_timeout(max_wait) {
                Ok(first) => {
                    std::thread::sleep(GATHERING);
                    let more = self.receiver.try_iter().take(GROUP - 1);
                    let group = std::iter::once(first).chain(more).collect();
                    self.commit(group);
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
            if Instant::now() >= next_heartbeat {
                self.heartbeat();
                next_heartbeat = Instant::now() + HEARTBEAT;
            }
        }
        self.syncer.close();
    }

    /// Commits a group. If one of several operations fails, each gets a transaction of its own,
    /// so that none suffers for its neighbor.
    fn commit(&mut self, mut group: Vec<Box<dyn WriterOrder>>) {
        let before = self.memory.clone();
        let changes = self.connection.total_changes();
        match self.attempt(&mut group) {
            Ok(()) => {
                self.memory.announce();
                let (durable, others): (Vec<_>, Vec<_>) =
                    group.into_iter().partition(|order| order.awaits_sync());
                others.into_iter().for_each(|order| order.answer(Ok(())));
                if !durable.is_empty() || self.connection.total_changes() != changes {
                    self.syncer.answer_when_synced(durable);
                }
            }
            Err(Aborted::ByOperation(_)) if group.len() > 1 => {
                self.memory = before;
                group.into_iter().for_each(|order| self.commit(vec![order]));
            }
            Err(Aborted::ByOperation(failure) | Aborted::ByTransaction(failure)) => {
                self.memory = before;
                let error = failure.explain(&self.file);
                tracing::debug!(%error, "a transaction of the ledger failed");
                group.into_iter().for_each(|order| order.answer(Err(error.clone())));
            }
        }
    }

    fn attempt(&mut self, group: &mut [Box<dyn WriterOrder>]) -> Result<(), Aborted> {
        let of_transaction = |error: rusqlite::Error| Aborted::ByTransaction(error.into());
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(of_transaction)?;
        for order in group {
            order.run(&transaction, &mut self.memory).map_err(Aborted::ByOperation)?;
        }
        self.memory.drafts.write(&transaction).map_err(Aborted::ByTransaction)?;
        transaction.commit().map_err(of_transaction)
    }

    /// A heartbeat that fails is logged and tried again at the next.
    fn heartbeat(&mut self) {
        let before = self.memory.clone();
        let beat = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(SqliteFailure::from)
            .and_then(|transaction| {
                self.memory.beat_and_sweep(&transaction)?;
                self.memory.drafts.write(&transaction)?;
                Ok(transaction.commit()?)
            });
        match beat {
            Ok(()) => self.memory.announce(),
            Err(failure) => {
                self.memory = before;
                let error = failure.explain(&self.file);
                tracing::warn!(%error, "a heartbeat of the ledger failed");
            }
        }
    }
}

enum Aborted {
    ByOperation(SqliteFailure),
    ByTransaction(SqliteFailure),
}
