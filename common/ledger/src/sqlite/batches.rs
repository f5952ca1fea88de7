//! Records of batches in `juror.db`.

use crate::{
    batches::{BatchRecords, BatchRow, RowAdded, RowChange, RowState, ShardKey, ShardStep},
    error::LedgerError,
    json::JsonRecords,
    sqlite::{
        SqliteLedger,
        batch_rows::BatchRows,
        batch_shards::{BatchShards, StoredShard},
    },
};
use async_trait::async_trait;
use juror_types::id::{JobId, OwnerId, RunId};
use std::time::Duration;

#[async_trait]
impl BatchRecords for SqliteLedger {
    async fn open_shard(&self, run: &RunId, owner: &OwnerId) -> Result<u32, LedgerError> {
        let (run, owner) = (run.clone(), owner.clone());
        self.writer.perform(move |connection, _| BatchShards(connection).open(&run, &owner)).await
    }

    async fn add_row(&self, shard: &ShardKey, row: &BatchRow) -> Result<RowAdded, LedgerError> {
        let (shard, row) = (shard.clone(), row.clone());
        self.writer
            .perform(move |connection, _| {
                if !BatchShards(connection).is_filled_by(&shard)? {
                    return Ok(RowAdded::Refused);
                }
                BatchRows(connection).add(&shard, &row)
            })
            .await
    }

    async fn row(&self, run: &RunId, job: &JobId) -> Result<Option<BatchRow>, LedgerError> {
        let (run, job) = (run.clone(), job.clone());
        self.writer.perform(move |connection, _| BatchRows(connection).of_job(&run, &job)).await
    }

    async fn rows(
        &self,
        run: &RunId,
        number: u32,
        state: RowState,
        after: Option<&JobId>,
        limit: u32,
    ) -> Result<Vec<BatchRow>, LedgerError> {
        let (run, after) = (run.clone(), after.cloned());
        self.writer
            .perform(move |connection, _| {
                BatchRows(connection).of_shard(&run, number, state, after.as_ref(), limit)
            })
            .await
    }

    async fn change_row(
        &self,
        run: &RunId,
        row: &BatchRow,
        change: RowChange,
    ) -> Result<(), LedgerError> {
        let (run, row) = (run.clone(), row.clone());
        self.writer
            .perform(move |connection, _| BatchRows(connection).change(&run, &row, change))
            .await
    }

    async fn plan_shard(
        &self,
        shard: &ShardKey,
        left_out: &[JobId],
        next: Option<u32>,
    ) -> Result<bool, LedgerError> {
        let (shard, left_out) = (shard.clone(), left_out.to_vec());
        self.writer
            .perform_durably(move |connection, _| {
                let planned = BatchShards(connection).set_step(&shard, &ShardStep::Planned)?;
                if let (true, Some(next)) = (planned, next) {
                    BatchRows(connection).move_open(&shard, &left_out, next)?;
                }
                Ok(planned)
            })
            .await
    }

    async fn split_shard(
        &self,
        shard: &ShardKey,
        parts: &[(u32, Vec<JobId>)],
    ) -> Result<bool, LedgerError> {
        let (shard, parts) = (shard.clone(), parts.to_vec());
        self.writer
            .perform_durably(move |connection, _| {
                let shards = BatchShards(connection);
                if !shards.set_step(&shard, &ShardStep::Collected)? {
                    return Ok(false);
                }
                for (number, jobs) in &parts {
                    BatchRows(connection).move_open(&shard, jobs, *number)?;
                    let part = ShardKey { number: *number, ..shard.clone() };
                    shards.set_step(&part, &ShardStep::Planned)?;
                }
                Ok(true)
            })
            .await
    }

    async fn set_step(&self, shard: &ShardKey, step: &ShardStep) -> Result<bool, LedgerError> {
        let (shard, step) = (shard.clone(), step.clone());
        self.writer
            .perform_durably(move |connection, _| BatchShards(connection).set_step(&shard, &step))
            .await
    }

    async fn shards(&self, run: &RunId) -> Result<Vec<(u32, ShardStep)>, LedgerError> {
        let run = run.clone();
        let shards = self
            .writer
            .perform(move |connection, _| BatchShards(connection).shards_of_run(&run))
            .await?;
        read(shards)
    }

    async fn runs_with_shards(&self) -> Result<Vec<RunId>, LedgerError> {
        self.writer.perform(move |connection, _| BatchShards(connection).runs()).await
    }

    async fn renew_owner(&self, owner: &OwnerId, ttl: Duration) -> Result<(), LedgerError> {
        let owner = owner.clone();
        self.writer
            .perform(move |connection, memory| {
                BatchShards(connection).renew(&owner, memory.now(), ttl)
            })
            .await
    }

    async fn remove_owner(&self, owner: &OwnerId) -> Result<(), LedgerError> {
        let owner = owner.clone();
        self.writer.perform(move |connection, _| BatchShards(connection).remove_owner(&owner)).await
    }

    async fn take_over(
        &self,
        run: &RunId,
        owner: &OwnerId,
    ) -> Result<Vec<(u32, ShardStep)>, LedgerError> {
        let (run, owner) = (run.clone(), owner.clone());
        let shards = self
            .writer
            .perform_durably(move |connection, memory| {
                BatchShards(connection).take_over(&run, &owner, memory.now())
            })
            .await?;
        read(shards)
    }
}

fn read(shards: Vec<StoredShard>) -> Result<Vec<(u32, ShardStep)>, LedgerError> {
    let read = |(number, text): StoredShard| {
        Ok((number, JsonRecords::SQLITE.read(&text, || format!("step of shard {number}"))?))
    };
    shards.into_iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        admission::{Admission as _, Budget, differential::TestClock},
        batches::{ROWS_OWNER, conformance},
        test_requests::request,
    };
    use juror_types::{id::LeaseId, usage::Money};

    #[tokio::test]
    async fn store_conforms() {
        let folder = tempfile::tempdir().unwrap();
        let (file, clock) = (folder.path().join("juror.db"), TestClock::new());
        let backend = SqliteLedger::open_with_clock(&file, clock.shared()).unwrap();
        conformance::check(&backend, &|milliseconds| clock.pass(milliseconds)).await;
    }

    #[tokio::test]
    async fn the_lease_of_a_row_outlives_its_process() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("juror.db");
        let backend = SqliteLedger::open(&file).unwrap();
        let (run, local) = (RunId::new("nightly"), OwnerId::new("local"));
        backend.open_run(&run, Budget::Cap(Money::from_pico(100))).await.unwrap();
        let leases =
            [("in a batch", ROWS_OWNER), ("of no row", ROWS_OWNER), ("in flight", "crashed")];
        for (lease, owner) in leases {
            backend.try_admit(&request(lease, owner, 20)).await.unwrap();
        }
        let lease = LeaseId::new("in a batch");
        let (job, record) = (JobId::new("job"), String::new());
        let row = BatchRow { job, round: 0, lease: lease.clone(), open: true, record };
        let number = backend.open_shard(&run, &local).await.unwrap();
        let shard = ShardKey { run: run.clone(), number, owner: local };
        assert_eq!(backend.add_row(&shard, &row).await.unwrap(), RowAdded::Added);
        backend.close().await;

        let backend = SqliteLedger::open(&file).unwrap();
        assert_eq!(backend.adopt(&run, &OwnerId::new("next")).await.unwrap(), 1);
        let ledger = backend.ledger(&run).await.unwrap().unwrap();
        assert_eq!((ledger.presumed.pico(), ledger.outstanding.pico()), (20, 40));
        for lease in [lease, LeaseId::new("of no row")] {
            backend.release(&lease).await.unwrap();
        }
        let ledger = backend.ledger(&run).await.unwrap().unwrap();
        assert_eq!((ledger.presumed.pico(), ledger.outstanding.pico()), (20, 0));
    }
}
