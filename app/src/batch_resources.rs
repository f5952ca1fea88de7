//! Batch lanes of runs, on one machine and in a fleet.

use crate::settings::Settings;
use juror_ledger::{batches::BatchRecords, error::LedgerError};
use juror_types::{id::OwnerId, lane::Lane, run::RunRecord};
use juror_worker::{batch_lane::BatchLane, run_context::JudgeSetup, run_deadline::RunDeadline};
use std::{path::PathBuf, sync::Arc};
use tokio::time::Instant;

/// Owner of every shard of one machine, where the lock of the run's directory names the process.
pub const LOCAL_OWNER: &str = "local";

/// Records of a process's batches, with their owner and the folder of their files.
#[derive(Clone)]
pub struct BatchResources {
    /// Records of shards and rows.
    pub records: Arc<dyn BatchRecords>,
    /// Owner of this process's shards.
    pub owner: OwnerId,
    /// Folder of the files that are uploaded and downloaded.
    pub folder: PathBuf,
}

impl BatchResources {
    /// Batch lane of a run; `None` if the run makes no batches. A run that is continued in another
    /// lane cancels its batches, collects their finished rows, and judges the other jobs by
    /// realtime calls.
    pub async fn lane(
        &self,
        settings: &Settings,
        record: &RunRecord,
        judge: Option<&JudgeSetup>,
    ) -> Result<Option<BatchLane>, LedgerError> {
        let Some((lane, provider)) =
            judge.and_then(|setup| Some((setup.terms.lane, setup.batches.clone()?)))
        else {
            return Ok(None);
        };
        if !lane.is_batched() && self.records.shards(&record.run_id).await?.is_empty() {
            return Ok(None);
        }
        let limits = provider.limits();
        let deadline = RunDeadline::in_record(record).at;
        let until = match lane {
            Lane::Batch => deadline,
            Lane::Mixed => deadline.map(|deadline| {
                let reserve = settings.batch.realtime_reserve.0;
                deadline.checked_sub(reserve).unwrap_or_else(Instant::now)
            }),
            Lane::Realtime | Lane::Flex => Some(Instant::now()),
        };
        Ok(Some(BatchLane {
            provider,
            records: Arc::clone(&self.records),
            owner: self.owner.clone(),
            folder: self.folder.clone(),
            poll_min: settings.batch.poll_min.0,
            poll_max: settings.batch.poll_max.0,
            max_rows: settings.batch.max_rows.min(limits.rows),
            max_bytes: settings.batch.max_bytes.min(limits.bytes),
            // The settings were checked when they were read.
            public_hosts: settings.batch.public_hosts().unwrap_or_default(),
            delete_files: settings.batch.delete_files,
            falls_back: lane != Lane::Batch,
            is_cancelled: false,
            until,
        }))
    }
}
