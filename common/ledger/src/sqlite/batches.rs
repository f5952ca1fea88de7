//! Batches under way in `juror.db`.

use crate::{
    batches::{BatchRecords, BatchRow, ShardStep},
    error::LedgerError,
    sqlite::{SqliteLedger, failure::SqliteFailure, store},
};
use async_trait::async_trait;
use juror_types::id::{JobId, LeaseId, RunId};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

#[async_trait]
impl BatchRecords for SqliteLedger {
    async fn add_row(&self, run: &RunId, row: BatchRow) -> Result<(), LedgerError> {
        let run = run.clone();
        self.writer
            .perform(move |connection, _| {
                connection
                    .prepare_cached(
                        "INSERT OR REPLACE INTO batch_rows (run, job, round, shard, lease, open, record)
                         VALUES (?1, ?2, ?3, NULL, ?4, ?5, ?6)",
                    )?
                    .execute(params![
                        run.as_str(),
                        row.job.as_str(),
                        row.round,
                        row.lease.as_str(),
                        row.open,
                        row.record
                    ])?;
                Ok(())
            })
            .await
    }

    async fn row(&self, run: &RunId, job: &JobId) -> Result<Option<BatchRow>, LedgerError> {
        let (run, job) = (run.clone(), job.clone());
        self.writer
            .perform(move |connection, _| {
                let mut statement = connection.prepare_cached(
                    "SELECT job, round, lease, open, record FROM batch_rows
                     WHERE run = ?1 AND job = ?2",
                )?;
                Ok(statement.query_row([run.as_str(), job.as_str()], row_from).optional()?)
            })
            .await
    }

    async fn remove_row(&self, run: &RunId, job: &JobId) -> Result<(), LedgerError> {
        let (run, job) = (run.clone(), job.clone());
        self.writer
            .perform(move |connection, _| {
                connection
                    .prepare_cached("DELETE FROM batch_rows WHERE run = ?1 AND job = ?2")?
                    .execute([run.as_str(), job.as_str()])?;
                Ok(())
            })
            .await
    }

    async fn open_rows(
        &self,
        run: &RunId,
        shard: Option<u32>,
        after: Option<&JobId>,
        limit: u32,
    ) -> Result<Vec<BatchRow>, LedgerError> {
        let (run, after) = (run.clone(), after.cloned());
        self.writer
            .perform(move |connection, _| {
                let mut statement = connection.prepare_cached(
                    "SELECT job, round, lease, open, record FROM batch_rows
                     WHERE run = ?1 AND shard IS ?2 AND open AND job > ?3 ORDER BY job LIMIT ?4",
                )?;
                let after = after.as_ref().map_or("", JobId::as_str);
                let rows =
                    statement.query_map(params![run.as_str(), shard, after, limit], row_from)?;
                Ok(rows.collect::<rusqlite::Result<_>>()?)
            })
            .await
    }

    async fn plan_shards(
        &self,
        run: &RunId,
        shards: &[(u32, Vec<JobId>)],
        from: Option<u32>,
    ) -> Result<(), LedgerError> {
        let (run, shards) = (run.clone(), shards.to_vec());
        self.writer
            .perform_durably(move |connection, _| {
                let mut statement = connection.prepare_cached(
                    "UPDATE batch_rows SET shard = ?3 WHERE run = ?1 AND job = ?2 AND open",
                )?;
                for (number, jobs) in &shards {
                    for job in jobs {
                        statement.execute(params![run.as_str(), job.as_str(), number])?;
                    }
                    set_step(connection, &run, *number, &ShardStep::Planned)?;
                }
                match from {
                    Some(from) => set_step(connection, &run, from, &ShardStep::Collected),
                    None => Ok(()),
                }
            })
            .await
    }

    async fn set_step(
        &self,
        run: &RunId,
        number: u32,
        step: &ShardStep,
    ) -> Result<(), LedgerError> {
        let (run, step) = (run.clone(), step.clone());
        self.writer
            .perform_durably(move |connection, _| set_step(connection, &run, number, &step))
            .await
    }

    async fn shards(&self, run: &RunId) -> Result<Vec<(u32, ShardStep)>, LedgerError> {
        let run = run.clone();
        let shards: Vec<(u32, String)> = self
            .writer
            .perform(move |connection, _| {
                let mut statement = connection.prepare_cached(
                    "SELECT number, step FROM batch_shards WHERE run = ?1 ORDER BY number",
                )?;
                let rows =
                    statement.query_map([run.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?;
                Ok(rows.collect::<rusqlite::Result<_>>()?)
            })
            .await?;
        shards
            .into_iter()
            .map(|(number, text)| {
                Ok((number, store::read_json(&text, || format!("step of shard {number}"))?))
            })
            .collect()
    }
}

fn set_step(
    connection: &Connection,
    run: &RunId,
    number: u32,
    step: &ShardStep,
) -> Result<(), SqliteFailure> {
    if *step == ShardStep::Collected {
        connection
            .prepare_cached("DELETE FROM batch_shards WHERE run = ?1 AND number = ?2")?
            .execute(params![run.as_str(), number])?;
        return Ok(());
    }
    // Memory takes every text.
    let text = serde_json::to_string(step).unwrap_or_default();
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO batch_shards (run, number, step) VALUES (?1, ?2, ?3)",
        )?
        .execute(params![run.as_str(), number, text])?;
    Ok(())
}

fn row_from(row: &Row<'_>) -> rusqlite::Result<BatchRow> {
    let text = |column| row.get::<_, String>(column);
    Ok(BatchRow {
        job: JobId::new(text(0)?),
        round: row.get(1)?,
        lease: LeaseId::new(text(2)?),
        open: row.get(3)?,
        record: text(4)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        admission::{Admission as _, Ask, Budget},
        batches::conformance,
    };
    use juror_types::{id::OwnerId, usage::Money};

    #[tokio::test]
    async fn it_conforms() {
        let folder = tempfile::tempdir().unwrap();
        let backend = SqliteLedger::open(&folder.path().join("juror.db")).unwrap();
        conformance::check(&backend).await;
    }

    #[tokio::test]
    async fn the_lease_of_a_row_outlives_its_process() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("juror.db");
        let backend = SqliteLedger::open(&file).unwrap();
        let run = RunId::new("nightly");
        backend.open_run(&run, Budget::Cap(Money::from_pico(100))).await.unwrap();
        for lease in ["in a batch", "in flight"] {
            let ask = Ask {
                lease: LeaseId::new(lease),
                owner: OwnerId::new("crashed"),
                run: run.clone(),
                endpoint: "judge".to_owned(),
                input_tokens: 0,
                max_output_tokens: 0,
                worst_cost: Money::from_pico(20),
            };
            backend.try_admit(&ask).await.unwrap();
        }
        let lease = LeaseId::new("in a batch");
        let (job, record) = (JobId::new("job"), String::new());
        let row = BatchRow { job, round: 0, lease: lease.clone(), open: true, record };
        backend.add_row(&run, row).await.unwrap();
        backend.close().await;

        let backend = SqliteLedger::open(&file).unwrap();
        assert_eq!(backend.adopt(&run, &OwnerId::new("next")).await.unwrap(), 1);
        let ledger = backend.ledger(&run).await.unwrap().unwrap();
        assert_eq!((ledger.presumed.pico(), ledger.outstanding.pico()), (20, 20));
        backend.release(&lease).await.unwrap();
        let ledger = backend.ledger(&run).await.unwrap().unwrap();
        assert_eq!((ledger.presumed.pico(), ledger.outstanding.pico()), (20, 0));
    }
}
