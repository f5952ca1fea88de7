//! The worker's role where calls are bought in batches: jobs are gathered into shards, each shard
//! becomes a batch of the provider's, and its rows become results.
//!
//! `gather` makes rows of jobs, `shard` takes a shard from its file to its end, `collect` reads
//! what came back, and `finish` makes a result of a row.

mod cancel;
mod collect;
mod driver;
mod finish;
mod gather;
mod row;
mod shard;
mod shard_file;

pub use cancel::{CancelBatchesError, cancel_batches};
pub use driver::run;

use crate::{batch_lane::BatchLane, context::Context};
use juror_queue::Queue;
use juror_types::{id::RunId, job::Job, outcome::JobResult};
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};
use tokio::sync::Notify;

/// State that the parts of the batch lane share.
pub struct BatchWork {
    /// Where jobs come from.
    pub jobs: Arc<dyn Queue<Job>>,
    /// Where results go.
    pub results: Arc<dyn Queue<JobResult>>,
    /// Context that jobs are judged with.
    pub context: Arc<Context>,
    /// Terms on which batches are bought.
    pub lane: Arc<BatchLane>,
    /// The run.
    pub run: RunId,
    /// Number of the next shard.
    next_shard: AtomicU32,
    /// Shards whose batch is not created yet.
    uncreated: AtomicU32,
    /// Shards whose batch is under way.
    under_way: AtomicU32,
    /// Tells that one of these counts has changed.
    changed: Notify,
}

/// Shards whose files may wait on the disk for their batch.
const MAX_UNCREATED: u32 = 2;

impl BatchWork {
    /// The work of one run.
    pub fn new(
        jobs: Arc<dyn Queue<Job>>,
        results: Arc<dyn Queue<JobResult>>,
        context: Arc<Context>,
        lane: Arc<BatchLane>,
        run: RunId,
    ) -> Self {
        Self {
            jobs,
            results,
            context,
            lane,
            run,
            next_shard: AtomicU32::new(1),
            uncreated: AtomicU32::new(0),
            under_way: AtomicU32::new(0),
            changed: Notify::new(),
        }
    }

    fn next_shard(&self) -> u32 {
        self.next_shard.fetch_add(1, Ordering::Relaxed)
    }

    /// Whether no further shard should be written for now.
    fn is_crowded(&self) -> bool {
        self.uncreated.load(Ordering::Relaxed) >= MAX_UNCREATED
    }

    fn under_way(&self) -> u32 {
        self.under_way.load(Ordering::Relaxed)
    }

    /// Counts a shard while the guard lives.
    fn count(self: &Arc<Self>, kind: fn(&Self) -> &AtomicU32) -> Counted {
        kind(self).fetch_add(1, Ordering::Relaxed);
        Counted { work: Arc::clone(self), kind }
    }
}

/// A shard that is counted.
struct Counted {
    work: Arc<BatchWork>,
    kind: fn(&BatchWork) -> &AtomicU32,
}

impl Drop for Counted {
    fn drop(&mut self) {
        (self.kind)(&self.work).fetch_sub(1, Ordering::Relaxed);
        self.work.changed.notify_one();
    }
}
