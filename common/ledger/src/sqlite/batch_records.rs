//! Tables of batches: rows, shards and their owners.

use super::statements::{execute, query_one};
use crate::batches::{BatchRow, RowAdded, RowChange, ShardKey, ShardStep};
use juror_types::id::{JobId, LeaseId, RunId};
use rusqlite::{Connection, Result, Row, params};

/// Number of a shard, and its step as JSON.
pub(super) type StoredShard = (u32, String);

/// Adds a row to a shard that its owner fills, unless its job has an open one.
pub(super) fn add_row(
    connection: &Connection,
    shard: &ShardKey,
    row: &BatchRow,
) -> Result<RowAdded> {
    let run = shard.run.as_str();
    let is_filled: bool = query_one(
        connection,
        "SELECT EXISTS (SELECT 1 FROM batch_shards
         WHERE run = ?1 AND number = ?2 AND owner = ?3 AND step = ?4)",
        params![run, shard.number, shard.owner.as_str(), json(&ShardStep::Filling)],
        |row| row.get(0),
    )?;
    if !is_filled {
        return Ok(RowAdded::Refused);
    }
    let (job, lease) = (row.job.as_str(), row.lease.as_str());
    let changed = execute(
        connection,
        "INSERT INTO batch_rows (run, job, round, shard, lease, open, record)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT DO UPDATE SET round = ?3, shard = ?4, lease = ?5, open = ?6, record = ?7
         WHERE NOT open OR lease = ?5",
        params![run, job, row.round, shard.number, lease, row.open, row.record],
    )?;
    Ok(if changed > 0 { RowAdded::Added } else { RowAdded::UnderWay })
}

/// Changes a row, unless it was replaced.
pub(super) fn change_row(
    connection: &Connection,
    run: &RunId,
    row: &BatchRow,
    change: RowChange,
) -> Result<usize> {
    let (run, job, lease) = (run.as_str(), row.job.as_str(), row.lease.as_str());
    match change {
        RowChange::Close => execute(
            connection,
            "UPDATE batch_rows SET open = 0, record = ?4
             WHERE run = ?1 AND job = ?2 AND lease = ?3 AND open",
            [run, job, lease, &row.record],
        ),
        RowChange::Detach => execute(
            connection,
            "UPDATE batch_rows SET shard = NULL
             WHERE run = ?1 AND job = ?2 AND lease = ?3 AND NOT open",
            [run, job, lease],
        ),
        RowChange::Remove => execute(
            connection,
            "DELETE FROM batch_rows WHERE run = ?1 AND job = ?2 AND lease = ?3",
            [run, job, lease],
        ),
    }
}

/// Moves the open rows of these jobs from one shard to another.
pub(super) fn move_open_rows(
    connection: &Connection,
    from: &ShardKey,
    jobs: &[JobId],
    to: u32,
) -> Result<()> {
    let mut statement = connection.prepare_cached(
        "UPDATE batch_rows SET shard = ?4 WHERE run = ?1 AND job = ?2 AND shard = ?3 AND open",
    )?;
    for job in jobs {
        statement.execute(params![from.run.as_str(), job.as_str(), from.number, to])?;
    }
    Ok(())
}

/// Records a step of a shard; returns false if it has another owner.
pub(super) fn set_step(
    connection: &Connection,
    shard: &ShardKey,
    step: &ShardStep,
) -> Result<bool> {
    let (run, number, owner) = (shard.run.as_str(), shard.number, shard.owner.as_str());
    let changed = match step {
        ShardStep::Collected => execute(
            connection,
            "DELETE FROM batch_shards WHERE run = ?1 AND number = ?2 AND owner = ?3",
            params![run, number, owner],
        ),
        step => execute(
            connection,
            "UPDATE batch_shards SET step = ?4 WHERE run = ?1 AND number = ?2 AND owner = ?3",
            params![run, number, owner, json(step)],
        ),
    };
    Ok(changed? > 0)
}

/// A step as JSON. Its serialization to memory cannot fail.
pub(super) fn json(step: &ShardStep) -> String {
    serde_json::to_string(step).unwrap_or_default()
}

/// A row from five columns: job, round, lease, open and record.
pub(super) fn row_from(row: &Row<'_>) -> Result<BatchRow> {
    Ok(BatchRow {
        job: JobId::new(row.get::<_, String>(0)?),
        round: row.get(1)?,
        lease: LeaseId::new(row.get::<_, String>(2)?),
        open: row.get(3)?,
        record: row.get(4)?,
    })
}

/// A shard from two columns: number and step.
pub(super) fn shard_from(row: &Row<'_>) -> Result<StoredShard> {
    Ok((row.get(0)?, row.get(1)?))
}
