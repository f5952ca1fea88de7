//! Terms on which a run buys its calls in batches.

use crate::vision::BatchProvider;
use juror_files::fetch_policy::FetchPolicy;
use juror_ledger::batches::BatchRecords;
use juror_types::id::OwnerId;
use std::{path::PathBuf, sync::Arc, time::Duration};
use tokio::time::Instant;

/// The batch lane of one run.
#[derive(Clone)]
pub struct BatchLane {
    /// Access to the provider's batches.
    pub provider: Arc<dyn BatchProvider>,
    /// Records of shards and of their rows.
    pub records: Arc<dyn BatchRecords>,
    /// Owner of the shards that are worked on here.
    pub owner: OwnerId,
    /// Folder of the files that are uploaded and downloaded.
    pub folder: PathBuf,
    /// Time before the second poll of a batch.
    pub poll_min: Duration,
    /// Longest time between two polls.
    pub poll_max: Duration,
    /// Maximum number of rows of a shard, within the provider's own limit.
    pub max_rows: usize,
    /// Maximum size of a shard's file in bytes, within the provider's own limit.
    pub max_bytes: u64,
    /// Hosts from which the provider may read images itself.
    pub public_hosts: FetchPolicy,
    /// True if files are deleted at the provider once a shard is collected.
    pub delete_files: bool,
    /// True if jobs that no batch finished are sent as ordinary calls.
    pub falls_back: bool,
    /// True if the run is cancelled: rows that have not run are skipped.
    pub is_cancelled: bool,
    /// Time until which batches are waited for; `None` for as long as the provider takes.
    pub until: Option<Instant>,
}

impl BatchLane {
    /// Terms for a cancelled run: its batches are no longer waited for, and rows that have not run
    /// are not sent in another lane.
    pub fn for_cancelled(&self) -> Self {
        let until = Some(Instant::now());
        Self { falls_back: false, is_cancelled: true, until, ..self.clone() }
    }

    /// True if batches are no longer waited for.
    pub fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Waits until batches are no longer waited for.
    pub async fn wait_until_over(&self) {
        match self.until {
            Some(until) => tokio::time::sleep_until(until).await,
            None => std::future::pending().await,
        }
    }
}
