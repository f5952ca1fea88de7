//! Terms on which a run buys its calls in batches.

use crate::vision::BatchProvider;
use juror_files::fetch_policy::Allowed;
use juror_ledger::batches::BatchRecords;
use juror_types::id::OwnerId;
use std::{path::PathBuf, sync::Arc, time::Duration};
use tokio::time::Instant;

/// The batch lane of one run.
#[derive(Clone)]
pub struct BatchLane {
    /// The provider's batches.
    pub provider: Arc<dyn BatchProvider>,
    /// Which jobs stand in which shard.
    pub records: Arc<dyn BatchRecords>,
    /// Owner of the shards that are worked on here.
    pub owner: OwnerId,
    /// Folder of the files that are uploaded and downloaded.
    pub folder: PathBuf,
    /// Time before the second look at a batch.
    pub poll_min: Duration,
    /// Longest time between two looks.
    pub poll_max: Duration,
    /// Most rows of a shard, within the provider's own limit.
    pub max_rows: usize,
    /// Most bytes of a shard's file, within the provider's own limit.
    pub max_bytes: u64,
    /// Hosts from which the provider may read images itself.
    pub public_hosts: Allowed,
    /// Whether files are deleted at the provider once a shard is collected.
    pub delete_files: bool,
    /// Whether what batches do not bring back is asked in ordinary calls.
    pub falls_back: bool,
    /// Whether the run is cancelled: what has not run is skipped.
    pub is_cancelled: bool,
    /// When batches are waited for no longer.
    pub until: Option<Instant>,
}

impl BatchLane {
    /// The same terms for a run that is cancelled: its batches are waited for no longer, and what has
    /// not run is asked in no other way.
    pub fn for_cancelled(&self) -> Self {
        let until = Some(Instant::now());
        Self { falls_back: false, is_cancelled: true, until, ..self.clone() }
    }

    /// Whether batches are waited for no longer.
    pub fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Returns when batches are waited for no longer.
    pub async fn over(&self) {
        match self.until {
            Some(until) => tokio::time::sleep_until(until).await,
            None => std::future::pending().await,
        }
    }
}
