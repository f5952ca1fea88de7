//! The table of rows of batches.

use crate::{
    batches::{BatchRow, RowAdded, RowChange, RowState, ShardKey},
    sqlite::failure::SqliteFailure,
};
use juror_types::id::{JobId, LeaseId, RunId};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

/// The rows, within a transaction.
pub(crate) struct BatchRows<'a>(pub(crate) &'a Connection);

impl BatchRows<'_> {
    /// Adds a row to a shard, unless its job has an open one.
    pub(crate) fn add(&self, shard: &ShardKey, row: &BatchRow) -> Result<RowAdded, SqliteFailure> {
        let changed = self
            .0
            .prepare_cached(
                "INSERT INTO batch_rows (run, job, round, shard, lease, open, record)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                 ON CONFLICT DO UPDATE SET round = ?3, shard = ?4, lease = ?5, open = ?6, record = ?7
                 WHERE NOT open OR lease = ?5",
            )?
            .execute(params![
                shard.run.as_str(),
                row.job.as_str(),
                row.round,
                shard.number,
                row.lease.as_str(),
                row.open,
                row.record
            ])?;
        Ok(if changed > 0 { RowAdded::Added } else { RowAdded::UnderWay })
    }

    /// The row of a job.
    pub(crate) fn of_job(
        &self,
        run: &RunId,
        job: &JobId,
    ) -> Result<Option<BatchRow>, SqliteFailure> {
        let mut statement = self.0.prepare_cached(
            "SELECT job, round, lease, open, record FROM batch_rows WHERE run = ?1 AND job = ?2",
        )?;
        Ok(statement.query_row([run.as_str(), job.as_str()], row_from).optional()?)
    }

    /// A page of the open or closed rows of a shard.
    pub(crate) fn of_shard(
        &self,
        run: &RunId,
        number: u32,
        state: RowState,
        after: Option<&JobId>,
        limit: u32,
    ) -> Result<Vec<BatchRow>, SqliteFailure> {
        // Each has its own index.
        let mut statement = self.0.prepare_cached(if state.is_open() {
            "SELECT job, round, lease, open, record FROM batch_rows
             WHERE run = ?1 AND shard = ?2 AND open AND job > ?3 ORDER BY job LIMIT ?4"
        } else {
            "SELECT job, round, lease, open, record FROM batch_rows
             WHERE run = ?1 AND shard = ?2 AND NOT open AND job > ?3 ORDER BY job LIMIT ?4"
        })?;
        let after = after.map_or("", JobId::as_str);
        let rows = statement.query_map(params![run.as_str(), number, after, limit], row_from)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Changes a row, unless it was replaced.
    pub(crate) fn change(
        &self,
        run: &RunId,
        row: &BatchRow,
        change: RowChange,
    ) -> Result<(), SqliteFailure> {
        let named = [run.as_str(), row.job.as_str(), row.lease.as_str()];
        match change {
            RowChange::Close => self
                .0
                .prepare_cached(
                    "UPDATE batch_rows SET open = 0, record = ?4
                     WHERE run = ?1 AND job = ?2 AND lease = ?3 AND open",
                )?
                .execute(params![run.as_str(), row.job.as_str(), row.lease.as_str(), row.record])?,
            RowChange::Detach => self
                .0
                .prepare_cached(
                    "UPDATE batch_rows SET shard = NULL
                     WHERE run = ?1 AND job = ?2 AND lease = ?3 AND NOT open",
                )?
                .execute(named)?,
            RowChange::Remove => self
                .0
                .prepare_cached(
                    "DELETE FROM batch_rows WHERE run = ?1 AND job = ?2 AND lease = ?3",
                )?
                .execute(named)?,
        };
        Ok(())
    }

    /// Moves the open rows of these jobs from one shard to another.
    pub(crate) fn move_open(
        &self,
        from: &ShardKey,
        jobs: &[JobId],
        to: u32,
    ) -> Result<(), SqliteFailure> {
        let mut statement = self.0.prepare_cached(
            "UPDATE batch_rows SET shard = ?4 WHERE run = ?1 AND job = ?2 AND shard = ?3 AND open",
        )?;
        for job in jobs {
            statement.execute(params![from.run.as_str(), job.as_str(), from.number, to])?;
        }
        Ok(())
    }
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
