//! Claims, finished jobs and the reply cache.
//!
//! A claim records the worker that works on a job. Taking over a dead worker's claim raises the
//! fence; the old holder may still settle money, but not publish.

#[cfg(test)]
pub(crate) mod conformance;

use crate::error::LedgerError;
use async_trait::async_trait;
use juror_types::{
    id::{Digest, JobId, OwnerId, RunId},
    outcome::{JobResult, JudgeRecord},
    usage::{Money, Usage},
};
use serde::{Deserialize, Serialize};

/// Claims, finished jobs and cached replies, in the same backend as the ledger.
#[async_trait]
pub trait JobStore: Send + Sync {
    /// Starts work on a job, or returns its result of this round or a later one. A claim of another
    /// owner is taken over unless its process is known to be alive; on one machine the caller has
    /// proved that it is not.
    async fn claim(&self, key: &ClaimKey, owner: &OwnerId) -> Result<Claim, LedgerError>;

    /// Stores a finished job without a call to settle. Returns true if the claim still holds, so
    /// that the result may be published.
    async fn finish(&self, finished: FinishedJob) -> Result<bool, LedgerError>;

    /// Marks this start of the job as isolated (no other job is prepared at the same time), or not.
    /// Only an isolated start that never ends counts against the job: no other job can have killed
    /// its worker.
    async fn set_isolated(&self, key: &ClaimKey, alone: bool) -> Result<(), LedgerError>;

    /// Ends a start without a result, for a job that is requeued, so that it does not count as a
    /// start that killed its worker.
    async fn requeue(&self, key: &ClaimKey) -> Result<(), LedgerError>;

    /// Records that a worker does not have a file of the job. Returns the number of workers before
    /// it in this round; `None` if no other worker can have the file.
    async fn record_missing_file(&self, key: &ClaimKey) -> Result<Option<u32>, LedgerError>;

    /// Counts an item of a run without a usable reply of the judge; an item with one resets the
    /// count. Returns the current count over all processes that judge the run; `None` if one
    /// process judges it.
    async fn count_unusable(&self, _run: &RunId) -> Result<Option<u32>, LedgerError> {
        Ok(None)
    }

    /// The cached reply to the request of this key.
    async fn cached_reply(&self, cache_key: &Digest) -> Result<Option<CachedReply>, LedgerError>;

    /// Statistics of the cache.
    async fn cache_stats(&self) -> Result<CacheStats, LedgerError>;

    /// Clears the cache; returns the number of replies that it held.
    async fn clear_cache(&self) -> Result<u64, LedgerError>;
}

/// Identifies the work on one job in one round.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClaimKey {
    /// Id of the run.
    pub run: RunId,
    /// Id of the job.
    pub job: JobId,
    /// Round in which the job was published, from 0.
    pub round: u32,
    /// Fence of the holder; 0 before the claim is granted.
    pub fence: u64,
}

/// The result of claiming a job.
#[derive(Clone, Debug)]
pub enum Claim {
    /// The job is claimed under this fence.
    Granted {
        /// Grows with every grant of the job.
        fence: u64,
        /// Earlier starts of the job in this round that never ended.
        unfinished_starts: u32,
        /// Number of isolated ones, as [`JobStore::set_isolated`] marked them.
        alone: u32,
        /// Cost of earlier holders' settled calls that is in no result yet.
        unattributed_cost: UnattributedCost,
    },
    /// The job already has its result: publish it again, without a call.
    Done(Box<JobResult>),
    /// Another living process has claimed the job: its result will come.
    Held,
}

/// Cost of a job's settled calls before it was finished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnattributedCost {
    /// Their cost.
    pub cost: Money,
    /// Their tokens.
    pub usage: Usage,
    /// Number of these calls.
    pub calls: u32,
    /// Number of them whose reply reported neither usage nor cost.
    pub unmetered_calls: u32,
}

/// A finished job, to be stored in one step with the settlement of its last call.
#[derive(Clone, Debug)]
pub struct FinishedJob {
    /// The claim that it was done under.
    pub claim: ClaimKey,
    /// Result to store.
    pub result: JobResult,
    /// Reply to cache, with the key of its request.
    pub reply_to_cache: Option<(Digest, CachedReply)>,
}

/// A usable reply of the judge, cached to be parsed again by the same rubric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CachedReply {
    /// The reply, verbatim.
    pub reply: String,
    /// Judge that wrote the reply.
    pub judge: JudgeRecord,
    /// Its usage when it was bought.
    pub usage: Usage,
    /// Its cost when it was bought.
    pub cost: Money,
}

/// Statistics of the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CacheStats {
    /// Number of cached replies.
    pub replies: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Cost of the judges' replies when they were bought.
    pub cost_usd: Money,
    /// Cost that the simulator's replies would have had; it was not paid.
    pub simulated_usd: Money,
}
