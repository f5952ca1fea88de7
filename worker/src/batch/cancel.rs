//! Cancelling the batches of a run that no process works on.

use super::{
    MAX_CONCURRENT_ROWS,
    give_up_shard::give_up_shard,
    lost_batch::{find_lost_batch, second_lease},
    row::open_rows,
};
use crate::vision::{BatchError, BatchProvider, BatchStatus};
use futures_util::TryStreamExt as _;
use juror_ledger::{
    admission::Admission,
    batches::{BatchRecords, BatchRow, ShardKey, ShardStep},
    error::LedgerError,
};
use juror_types::id::{OwnerId, RunId};
use std::time::Duration;

/// Reason why batches could not be cancelled. Those that were cancelled before the error stay so.
#[derive(Debug, thiserror::Error)]
pub enum CancelBatchesError {
    /// The ledger cannot be used.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The provider did not cancel a batch.
    #[error(transparent)]
    Provider(#[from] BatchError),
}

/// Cancels every batch of a run at the provider and gives up shards without one; returns the number
/// of batches to be collected. `owner` is the owner of the run's shards; a batch whose creation had
/// no response is searched for, `pause` apart. Rows that ran by then are billed.
///
/// # Errors
/// The first one of the provider, after the other batches were cancelled.
pub async fn cancel_batches<Backend: BatchRecords + Admission>(
    run: &RunId,
    owner: &OwnerId,
    provider: &dyn BatchProvider,
    backend: &Backend,
    pause: Duration,
) -> Result<u32, CancelBatchesError> {
    let (mut left, mut failed) = (0, None);
    let mut shards = backend.take_over(run, owner).await?;
    // Searches take half a minute each, in which known batches would run on.
    shards.sort_by_key(|(_, step)| {
        matches!(step, ShardStep::Uploaded { .. } | ShardStep::Creating { .. })
    });
    for (number, step) in shards {
        let shard = ShardKey { run: run.clone(), number, owner: owner.clone() };
        match cancel_shard(&shard, step, provider, backend, pause).await {
            Ok(is_left) => left += u32::from(is_left),
            // Its reservations stay.
            Err(CancelBatchesError::Provider(error)) => {
                failed.get_or_insert(error);
            }
            Err(error @ CancelBatchesError::Ledger(_)) => return Err(error),
        }
    }
    failed.map_or(Ok(left), |error| Err(error.into()))
}

/// Cancels the batch of a shard; true if its results are to be collected. A shard without a batch is
/// given up.
async fn cancel_shard<Backend: BatchRecords + Admission>(
    shard: &ShardKey,
    step: ShardStep,
    provider: &dyn BatchProvider,
    backend: &Backend,
    pause: Duration,
) -> Result<bool, CancelBatchesError> {
    let batch = match step {
        ShardStep::Created { batch, .. } | ShardStep::Ended { batch, .. } => Some(batch),
        // The last creation had an answer, an error of the provider: it may be a batch all the same.
        ShardStep::Uploaded { file } => {
            let found = find_lost_batch(provider, &file, 0, pause).await?;
            record_found(shard, file, found, backend).await?
        }
        ShardStep::Creating { file, unanswered } => {
            let found = find_lost_batch(provider, &file, unanswered, pause).await?;
            let second = second_lease(&shard.run, &file);
            match unanswered {
                // A second creation had an answer, and created nothing.
                0 | 1 => backend.release(&second).await?,
                _ => backend.presume_spent(&second).await?,
            }
            if found.is_none() {
                // It may run all the same.
                presume_rows(shard, backend).await?;
            }
            record_found(shard, file, found, backend).await?
        }
        ShardStep::Filling | ShardStep::GivenUp | ShardStep::Planned | ShardStep::Collected => None,
    };
    let Some(batch) = batch else {
        give_up_shard(shard, backend, backend).await?;
        return Ok(false);
    };
    if let BatchStatus::UnderWay(_) = provider.status(&batch).await? {
        match provider.cancel(&batch).await {
            // A refusal means that the batch has ended, or ends anyway.
            Ok(()) | Err(BatchError::Refused { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(true)
}

/// Records the batch of a file, if one was found, and returns it.
async fn record_found<Backend: BatchRecords>(
    shard: &ShardKey,
    file: String,
    found: Option<String>,
    backend: &Backend,
) -> Result<Option<String>, LedgerError> {
    if let Some(batch) = found.clone() {
        backend.set_step(shard, &ShardStep::Created { file, batch }).await?;
    }
    Ok(found)
}

/// Counts the rows of a shard as spent.
async fn presume_rows<Backend: BatchRecords + Admission>(
    shard: &ShardKey,
    backend: &Backend,
) -> Result<(), LedgerError> {
    let presume = |row: BatchRow| async move { backend.presume_spent(&row.lease).await };
    let rows = open_rows(backend, &shard.run, shard.number);
    rows.try_for_each_concurrent(MAX_CONCURRENT_ROWS, presume).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vision::{BatchLimits, BatchMark, Request, RowCounts, RowOutput};
    use async_trait::async_trait;
    use juror_ledger::{admission::Budget, sqlite::SqliteLedger};
    use juror_types::usage::Money;
    use parking_lot::Mutex;
    use std::path::Path;

    /// A provider that no longer cancels the first batch, does not know the second one, and lists the
    /// fourth one.
    #[derive(Default)]
    struct FakeProvider {
        asked: Mutex<Vec<String>>,
    }

    #[async_trait]
    impl BatchProvider for FakeProvider {
        fn limits(&self) -> BatchLimits {
            BatchLimits { rows: 1, bytes: 1 }
        }

        fn row(&self, _: &str, _: &Request) -> Vec<u8> {
            Vec::new()
        }

        async fn upload(&self, _: &Path) -> Result<String, BatchError> {
            Err(BatchError::File("nothing is sent".to_owned()))
        }

        async fn create(&self, _: &str, _: &BatchMark) -> Result<String, BatchError> {
            Err(BatchError::File("nothing is created".to_owned()))
        }

        async fn find_up_to(&self, file: &str, _: usize) -> Result<Vec<String>, BatchError> {
            Ok(if file == "file-4" { vec!["batch-4".to_owned()] } else { Vec::new() })
        }

        async fn status(&self, batch: &str) -> Result<BatchStatus, BatchError> {
            match batch {
                "batch-2" => Err(BatchError::Gone("no such batch".to_owned())),
                _ => Ok(BatchStatus::UnderWay(RowCounts::default())),
            }
        }

        async fn cancel(&self, batch: &str) -> Result<(), BatchError> {
            self.asked.lock().push(batch.to_owned());
            match batch {
                "batch-1" => Err(BatchError::Refused { status: 409, message: "ends".to_owned() }),
                _ => Ok(()),
            }
        }

        async fn download(&self, _: &str, _: &Path) -> Result<(), BatchError> {
            Err(BatchError::File("nothing is collected".to_owned()))
        }

        async fn delete_file(&self, _: &str) -> Result<(), BatchError> {
            Ok(())
        }

        fn read_row(&self, _: &[u8]) -> Option<RowOutput> {
            None
        }
    }

    #[tokio::test(start_paused = true)]
    async fn every_batch_is_cancelled_although_one_cannot_be() {
        let folder = tempfile::tempdir().unwrap();
        let backend = SqliteLedger::open(&folder.path().join("juror.db")).unwrap();
        let (run, owner) = (RunId::new("night"), OwnerId::new("local"));
        backend.open_run(&run, Budget::Cap(Money::from_pico(100))).await.unwrap();
        for step in [
            ShardStep::Created { file: "file-1".to_owned(), batch: "batch-1".to_owned() },
            ShardStep::Created { file: "file-2".to_owned(), batch: "batch-2".to_owned() },
            ShardStep::Created { file: "file-3".to_owned(), batch: "batch-3".to_owned() },
            ShardStep::Uploaded { file: "file-4".to_owned() },
            ShardStep::Uploaded { file: "file-5".to_owned() },
        ] {
            let number = backend.open_shard(&run, &owner).await.unwrap();
            let shard = ShardKey { run: run.clone(), number, owner: owner.clone() };
            assert!(backend.set_step(&shard, &step).await.unwrap());
        }
        let provider = FakeProvider::default();
        let pause = Duration::from_millis(1);
        let error = cancel_batches(&run, &owner, &provider, &backend, pause).await.unwrap_err();
        assert!(matches!(error, CancelBatchesError::Provider(BatchError::Gone(_))), "{error}");
        assert_eq!(*provider.asked.lock(), ["batch-1", "batch-3", "batch-4"]);
        let left: Vec<u32> =
            backend.shards(&run).await.unwrap().into_iter().map(|(number, _)| number).collect();
        assert_eq!(left.len(), 4, "the shard without a batch is given up");
    }
}
