//! The worker's role where calls are bought in batches: jobs are gathered into shards, each shard
//! becomes a batch at the provider, and its rows become results.
//!
//! `row_admission` makes rows of jobs, `shard_builder` writes them into a shard, `shard_lifecycle`
//! works on it from its file to its end, `collect_results` reads the results of its batch, and
//! `row_settlement` makes a result of a row; `give_up_shard` ends a shard that was never sent.
//! `worker_role::batch_keeper` puts these together.

mod cancel;
mod collect_results;
mod file_content;
mod give_up_shard;
mod lost_batch;
mod row;
mod row_admission;
mod row_settlement;
mod shard_builder;
mod shard_file;
mod shard_lifecycle;

pub use cancel::{CancelBatchesError, cancel_batches};
pub(crate) use {
    give_up_shard::give_up_own_shard,
    row_admission::{Gathered, PendingRow, admit, gather, give_up_row},
    shard_lifecycle::ShardLifecycle,
};

use crate::{batch_lane::BatchLane, run_context::RunContext};
use juror_ledger::batches::ShardKey;
use juror_queue::Queue;
use juror_types::{id::RunId, job::Job, outcome::JobResult};
use shard_builder::ShardBuilder;
use std::sync::{Arc, atomic::AtomicBool};
use tokio::sync::{Mutex, Notify, watch};

/// Page size of reading rows.
const PAGE: u32 = 500;
/// Maximum number of rows that are finished, returned or given up at the same time, so that their
/// transactions are written together.
const MAX_CONCURRENT_ROWS: usize = 32;

/// Batches of a run, as the parts of the batch lane share them.
pub(crate) struct RunBatches {
    /// Queue to which retried jobs return.
    jobs: Arc<dyn Queue<Job>>,
    /// Queue that results go to.
    results: Arc<dyn Queue<JobResult>>,
    /// Context that jobs are judged with.
    pub(crate) context: Arc<RunContext>,
    /// Terms on which batches are bought.
    pub(crate) lane: Arc<BatchLane>,
    pub(crate) run: RunId,
    builder: Mutex<ShardBuilder>,
    /// Number of shards whose batch is not created yet.
    uncreated: watch::Sender<u32>,
    /// Number of shards with an active batch.
    under_way: watch::Sender<u32>,
    /// Signal that one of these counts has changed, or that a shard is planned.
    changed: Arc<Notify>,
    /// True if the user was warned of a request that is larger than a batch may be.
    warned_of_oversize: AtomicBool,
}

/// Maximum number of shards whose files wait on disk for their batch.
const MAX_UNCREATED: u32 = 2;

impl RunBatches {
    /// Work on a run that has no shard yet; `changed` signals changes in it.
    pub(crate) fn new(
        (jobs, results): (Arc<dyn Queue<Job>>, Arc<dyn Queue<JobResult>>),
        context: Arc<RunContext>,
        lane: Arc<BatchLane>,
        run: RunId,
        changed: Arc<Notify>,
    ) -> Self {
        Self {
            jobs,
            results,
            context,
            lane,
            run,
            builder: Mutex::default(),
            uncreated: watch::Sender::new(0),
            under_way: watch::Sender::new(0),
            changed,
            warned_of_oversize: AtomicBool::new(false),
        }
    }

    /// Name of one of the run's shards, as its owner.
    fn shard(&self, number: u32) -> ShardKey {
        ShardKey { run: self.run.clone(), number, owner: self.lane.owner.clone() }
    }

    /// Waits until a further shard may be written.
    pub(crate) async fn wait_for_capacity(&self) {
        // The sender is our own, so it does not close.
        let _ = self.uncreated.subscribe().wait_for(|count| *count < MAX_UNCREATED).await;
    }

    /// Counts a shard in one of its counts until the guard is dropped.
    fn count_in(&self, count: &watch::Sender<u32>) -> CountedShard {
        count.send_modify(|count| *count += 1);
        CountedShard { count: count.clone(), changed: Arc::clone(&self.changed) }
    }
}

/// A shard that is counted.
struct CountedShard {
    count: watch::Sender<u32>,
    changed: Arc<Notify>,
}

impl Drop for CountedShard {
    fn drop(&mut self) {
        self.count.send_modify(|count| *count -= 1);
        self.changed.notify_one();
    }
}
