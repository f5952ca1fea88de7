//! The tables of shards and of their owners.

use crate::{
    batches::{ShardKey, ShardStep},
    sqlite::failure::SqliteFailure,
};
use juror_types::id::{OwnerId, RunId};
use rusqlite::{Connection, params};
use std::time::Duration;

/// The shards, within a transaction.
pub(crate) struct BatchShards<'a>(pub(crate) &'a Connection);

/// Number of a shard, and its step as JSON.
pub(crate) type StoredShard = (u32, String);

impl BatchShards<'_> {
    /// Opens a shard; returns its number.
    pub(crate) fn open(&self, run: &RunId, owner: &OwnerId) -> Result<u32, SqliteFailure> {
        let number = self
            .0
            .prepare_cached(
                "INSERT INTO batch_numbers VALUES (?1, 1)
                 ON CONFLICT DO UPDATE SET last = last + 1 RETURNING last",
            )?
            .query_row([run.as_str()], |row| row.get(0))?;
        self.0
            .prepare_cached(
                "INSERT INTO batch_shards (run, number, step, owner) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![run.as_str(), number, json(&ShardStep::Filling), owner.as_str()])?;
        Ok(number)
    }

    /// True if this owner may add rows to the shard.
    pub(crate) fn is_filled_by(&self, shard: &ShardKey) -> Result<bool, SqliteFailure> {
        let mut statement = self.0.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM batch_shards
             WHERE run = ?1 AND number = ?2 AND owner = ?3 AND step = ?4)",
        )?;
        let named = params![
            shard.run.as_str(),
            shard.number,
            shard.owner.as_str(),
            json(&ShardStep::Filling)
        ];
        Ok(statement.query_row(named, |row| row.get(0))?)
    }

    /// Records a step of a shard; returns false if it has another owner.
    pub(crate) fn set_step(
        &self,
        shard: &ShardKey,
        step: &ShardStep,
    ) -> Result<bool, SqliteFailure> {
        let (run, number, owner) = (shard.run.as_str(), shard.number, shard.owner.as_str());
        let changed = match step {
            ShardStep::Collected => self
                .0
                .prepare_cached(
                    "DELETE FROM batch_shards WHERE run = ?1 AND number = ?2 AND owner = ?3",
                )?
                .execute(params![run, number, owner])?,
            step => self
                .0
                .prepare_cached(
                    "UPDATE batch_shards SET step = ?4
                     WHERE run = ?1 AND number = ?2 AND owner = ?3",
                )?
                .execute(params![run, number, owner, json(step)])?,
        };
        Ok(changed > 0)
    }

    /// The shards of a run, by their numbers.
    pub(crate) fn shards_of_run(&self, run: &RunId) -> Result<Vec<StoredShard>, SqliteFailure> {
        let mut statement = self.0.prepare_cached(
            "SELECT number, step FROM batch_shards WHERE run = ?1 ORDER BY number",
        )?;
        let shards = statement.query_map([run.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(shards.collect::<rusqlite::Result<_>>()?)
    }

    /// Runs that have shards.
    pub(crate) fn runs(&self) -> Result<Vec<RunId>, SqliteFailure> {
        let mut statement =
            self.0.prepare_cached("SELECT DISTINCT run FROM batch_shards ORDER BY run")?;
        let runs = statement.query_map([], |row| row.get::<_, String>(0))?;
        runs.map(|run| Ok(RunId::new(run?))).collect()
    }

    /// Extends an owner's lifetime.
    pub(crate) fn renew(
        &self,
        owner: &OwnerId,
        now: i64,
        ttl: Duration,
    ) -> Result<(), SqliteFailure> {
        let until = now.saturating_add(i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX));
        self.0
            .prepare_cached("INSERT OR REPLACE INTO batch_owners VALUES (?1, ?2)")?
            .execute(params![owner.as_str(), until])?;
        Ok(())
    }

    /// Ends an owner.
    pub(crate) fn remove_owner(&self, owner: &OwnerId) -> Result<(), SqliteFailure> {
        self.0
            .prepare_cached("DELETE FROM batch_owners WHERE owner = ?1")?
            .execute([owner.as_str()])?;
        Ok(())
    }

    /// Transfers shards without a living owner to this one; returns all that it owns.
    pub(crate) fn take_over(
        &self,
        run: &RunId,
        owner: &OwnerId,
        now: i64,
    ) -> Result<Vec<StoredShard>, SqliteFailure> {
        self.0
            .prepare_cached(
                "UPDATE batch_shards SET owner = ?2 WHERE run = ?1 AND owner NOT IN
                     (SELECT owner FROM batch_owners WHERE until_ms >= ?3)",
            )?
            .execute(params![run.as_str(), owner.as_str(), now])?;
        let mut statement = self.0.prepare_cached(
            "SELECT number, step FROM batch_shards WHERE run = ?1 AND owner = ?2 ORDER BY number",
        )?;
        let shards = statement
            .query_map([run.as_str(), owner.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(shards.collect::<rusqlite::Result<_>>()?)
    }
}

/// The serialization of a step to memory cannot fail.
fn json(step: &ShardStep) -> String {
    serde_json::to_string(step).unwrap_or_default()
}
