//! Records of batches in `juror.db`.

use super::{
    SqliteLedger,
    batch_records::{
        StoredShard, add_row, change_row, json, move_open_rows, row_from, set_step, shard_from,
    },
    statements::{execute, query_all, query_one},
};
use crate::{
    batches::{BatchRecords, BatchRow, RowAdded, RowChange, RowState, ShardKey, ShardStep},
    error::LedgerError,
    json::JsonRecords,
};
use async_trait::async_trait;
use juror_types::id::{JobId, OwnerId, RunId};
use rusqlite::{OptionalExtension as _, params};
use std::time::Duration;

#[async_trait]
impl BatchRecords for SqliteLedger {
    async fn open_shard(&self, run: &RunId, owner: &OwnerId) -> Result<u32, LedgerError> {
        let (run, owner) = (run.clone(), owner.clone());
        self.writer
            .perform(move |connection, _| {
                let number = query_one(
                    connection,
                    "INSERT INTO batch_numbers VALUES (?1, 1)
                     ON CONFLICT DO UPDATE SET last = last + 1 RETURNING last",
                    [run.as_str()],
                    |row| row.get(0),
                )?;
                execute(
                    connection,
                    "INSERT INTO batch_shards (run, number, step, owner) VALUES (?1, ?2, ?3, ?4)",
                    params![run.as_str(), number, json(&ShardStep::Filling), owner.as_str()],
                )?;
                Ok(number)
            })
            .await
    }

    async fn add_row(&self, shard: &ShardKey, row: &BatchRow) -> Result<RowAdded, LedgerError> {
        let (shard, row) = (shard.clone(), row.clone());
        self.writer.perform(move |connection, _| add_row(connection, &shard, &row)).await
    }

    async fn row(&self, run: &RunId, job: &JobId) -> Result<Option<BatchRow>, LedgerError> {
        let (run, job) = (run.clone(), job.clone());
        self.writer
            .perform(move |connection, _| {
                let query = "SELECT job, round, lease, open, record FROM batch_rows
                             WHERE run = ?1 AND job = ?2";
                query_one(connection, query, [run.as_str(), job.as_str()], row_from).optional()
            })
            .await
    }

    async fn rows(
        &self,
        run: &RunId,
        number: u32,
        state: RowState,
        after: Option<&JobId>,
        limit: u32,
    ) -> Result<Vec<BatchRow>, LedgerError> {
        let (run, after) = (run.clone(), after.map_or("", JobId::as_str).to_owned());
        // Each has its own index.
        let query = if state.is_open() {
            "SELECT job, round, lease, open, record FROM batch_rows
             WHERE run = ?1 AND shard = ?2 AND open AND job > ?3 ORDER BY job LIMIT ?4"
        } else {
            "SELECT job, round, lease, open, record FROM batch_rows
             WHERE run = ?1 AND shard = ?2 AND NOT open AND job > ?3 ORDER BY job LIMIT ?4"
        };
        self.writer
            .perform(move |connection, _| {
                let values = params![run.as_str(), number, after, limit];
                query_all(connection, query, values, row_from)
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
            .perform(move |connection, _| change_row(connection, &run, &row, change))
            .await
            .map(drop)
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
                let planned = set_step(connection, &shard, &ShardStep::Planned)?;
                if let (true, Some(next)) = (planned, next) {
                    move_open_rows(connection, &shard, &left_out, next)?;
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
                if !set_step(connection, &shard, &ShardStep::Collected)? {
                    return Ok(false);
                }
                for (number, jobs) in &parts {
                    move_open_rows(connection, &shard, jobs, *number)?;
                    let part = ShardKey { number: *number, ..shard.clone() };
                    set_step(connection, &part, &ShardStep::Planned)?;
                }
                Ok(true)
            })
            .await
    }

    async fn set_step(&self, shard: &ShardKey, step: &ShardStep) -> Result<bool, LedgerError> {
        let (shard, step) = (shard.clone(), step.clone());
        self.writer.perform_durably(move |connection, _| set_step(connection, &shard, &step)).await
    }

    async fn shards(&self, run: &RunId) -> Result<Vec<(u32, ShardStep)>, LedgerError> {
        let run = run.clone();
        let query = "SELECT number, step FROM batch_shards WHERE run = ?1 ORDER BY number";
        let shards = self
            .writer
            .perform(move |connection, _| query_all(connection, query, [run.as_str()], shard_from));
        read(shards.await?)
    }

    async fn runs_with_shards(&self) -> Result<Vec<RunId>, LedgerError> {
        let query = "SELECT DISTINCT run FROM batch_shards ORDER BY run";
        self.writer
            .perform(move |connection, _| {
                query_all(connection, query, [], |row| row.get::<_, String>(0).map(RunId::new))
            })
            .await
    }

    async fn renew_owner(&self, owner: &OwnerId, ttl: Duration) -> Result<(), LedgerError> {
        let owner = owner.clone();
        let ttl = i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX);
        self.writer
            .perform(move |connection, memory| {
                let statement = "INSERT OR REPLACE INTO batch_owners VALUES (?1, ?2)";
                let until = memory.now().saturating_add(ttl);
                execute(connection, statement, params![owner.as_str(), until])
            })
            .await
            .map(drop)
    }

    async fn remove_owner(&self, owner: &OwnerId) -> Result<(), LedgerError> {
        let owner = owner.clone();
        let statement = "DELETE FROM batch_owners WHERE owner = ?1";
        self.writer
            .perform(move |connection, _| execute(connection, statement, [owner.as_str()]))
            .await
            .map(drop)
    }

    async fn take_over(
        &self,
        run: &RunId,
        owner: &OwnerId,
    ) -> Result<Vec<(u32, ShardStep)>, LedgerError> {
        let (run, owner) = (run.clone(), owner.clone());
        let shards = self.writer.perform_durably(move |connection, memory| {
            execute(
                connection,
                "UPDATE batch_shards SET owner = ?2 WHERE run = ?1 AND owner NOT IN
                     (SELECT owner FROM batch_owners WHERE until_ms >= ?3)",
                params![run.as_str(), owner.as_str(), memory.now()],
            )?;
            let query = "SELECT number, step FROM batch_shards WHERE run = ?1 AND owner = ?2
                         ORDER BY number";
            query_all(connection, query, [run.as_str(), owner.as_str()], shard_from)
        });
        read(shards.await?)
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
        admission::{Admission as _, Budget, tests::differential::TestClock},
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
