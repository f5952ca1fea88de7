//! Claims, finished jobs and the verdict cache.
//!
//! A claim says who works on a job. Taking over a dead worker's claim raises the fence; the old
//! holder may still settle money, but not publish.

#[cfg(any(test, feature = "conformance"))]
pub mod conformance;

use crate::error::LedgerError;
use async_trait::async_trait;
use juror_types::{
    id::{Digest, JobId, OwnerId, RunId},
    outcome::{JobResult, JudgeRecord},
    usage::{Money, Usage},
};
use serde::{Deserialize, Serialize};

/// Claims, finished jobs and cached verdicts, in the same backend as the ledger.
#[async_trait]
pub trait Store: Send + Sync {
    /// Starts work on a job, or returns the result that it already has in this round or a later
    /// one. A claim of another owner is taken over, unless its process is seen to live: on one
    /// machine, who asks has proved that it does not.
    async fn claim(&self, key: &ClaimKey, owner: &OwnerId) -> Result<Claim, LedgerError>;

    /// Stores a finished job that no call is to be settled for. Answers whether the claim still
    /// held, and so whether the result may be published.
    async fn finish(&self, finished: FinishedJob) -> Result<bool, LedgerError>;

    /// Notes whether this start of the job has no neighbor just now. Only one that never ends
    /// while it is alone tells against the job: nothing else can have killed its worker.
    async fn set_alone(&self, key: &ClaimKey, alone: bool) -> Result<(), LedgerError>;

    /// Ends a start without a result, so that it does not count as one that killed its worker:
    /// for a job that is put back, to be tried later or by somebody else.
    async fn requeue(&self, key: &ClaimKey) -> Result<(), LedgerError>;

    /// Counts a worker that does not have a file of the job. Answers how many before it did not
    /// either in this round; none where no other worker could have it.
    async fn miss(&self, key: &ClaimKey) -> Result<Option<u32>, LedgerError>;

    /// Counts an item of a run whose judge gave no usable answer; an item with a usable one ends
    /// the row. Returns how many items there are in a row, over all processes that judge the run;
    /// none where one process judges it.
    async fn count_unusable(&self, _run: &RunId) -> Result<Option<u32>, LedgerError> {
        Ok(None)
    }

    /// The answer to a question that was asked before.
    async fn cached(&self, question: &Digest) -> Result<Option<CachedReply>, LedgerError>;

    /// Statistics of the cache.
    async fn cache_stats(&self) -> Result<CacheStats, LedgerError>;

    /// Empties the cache; answers how many replies it held.
    async fn clear_cache(&self) -> Result<u64, LedgerError>;
}

/// Names the work on one job in one round.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClaimKey {
    /// The run.
    pub run: RunId,
    /// The job.
    pub job: JobId,
    /// The round.
    pub round: u32,
    /// Number of the holder; 0 before the claim is granted.
    pub fence: u64,
}

/// The answer to a claim.
#[derive(Clone, Debug)]
pub enum Claim {
    /// The job is ours, under this fence.
    Granted {
        /// Grows with every grant of the job.
        fence: u64,
        /// Earlier starts of the job in this round that never ended.
        unfinished_starts: u32,
        /// Those of them that were alone when they broke off, as [`Store::set_alone`] noted.
        alone: u32,
        /// Cost of earlier holders' settled calls that no result tells yet.
        unattributed_cost: UnattributedCost,
    },
    /// The job has its result already: publish that again, call nobody.
    Done(Box<JobResult>),
    /// Another process has the job in hand and lives: its result will come.
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
    /// Number of them that told neither usage nor cost.
    pub unmetered_calls: u32,
}

/// A job's end, to be stored in one step with the settlement of its last call.
#[derive(Clone, Debug)]
pub struct FinishedJob {
    /// The claim that it was done under.
    pub claim: ClaimKey,
    /// Its result.
    pub result: JobResult,
    /// The reply to remember for the next time the same question is asked.
    pub remember: Option<(Digest, CachedReply)>,
}

/// A usable reply of the judge, kept to be read again by the same rubric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CachedReply {
    /// The reply, verbatim.
    pub reply: String,
    /// Its judge.
    pub judge: JudgeRecord,
    /// Its usage when it was asked.
    pub usage: Usage,
    /// Its cost when it was asked.
    pub cost: Money,
}

/// Statistics of the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CacheStats {
    /// Replies.
    pub replies: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Cost of judges' answers when they were asked.
    pub cost_usd: Money,
    /// Cost that those of the simulator would have had; it was not paid.
    pub simulated_usd: Money,
}
