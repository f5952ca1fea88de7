//! Tables of claims and results.

use super::{
    reply_cache,
    statements::{execute, query_one},
};
use crate::{
    admission::Settlement,
    error::LedgerError,
    job_store::{Claim, ClaimKey, FinishedJob, UnattributedCost},
    json::write_json,
};
use juror_types::{
    id::{Digest, OwnerId, RunId},
    usage::{Money, Usage},
};
use rusqlite::{Connection, OptionalExtension as _, Result, Row, params};

/// A finished job as JSON, serialized outside the writer's thread.
pub(crate) struct PreparedFinish {
    pub(super) claim: ClaimKey,
    result: String,
    reply_to_cache: Option<(Digest, String, Money)>,
}

impl PreparedFinish {
    /// Serializes the job.
    pub(crate) fn new(finished: FinishedJob) -> Result<Self, LedgerError> {
        let FinishedJob { claim, result, reply_to_cache } = finished;
        let result = write_json(&result)?;
        let reply_to_cache = match reply_to_cache {
            Some((cache_key, reply)) => Some((cache_key, write_json(&reply)?, reply.cost)),
            None => None,
        };
        Ok(Self { claim, result, reply_to_cache })
    }
}

/// True if this claim was not taken over.
pub(super) fn holds(connection: &Connection, claim: &ClaimKey) -> Result<bool> {
    query_one(
        connection,
        "SELECT EXISTS (SELECT 1 FROM claims
         WHERE run = ?1 AND job = ?2 AND round = ?3 AND fence = ?4)",
        params![claim.run.as_str(), claim.job.as_str(), claim.round, stored(claim.fence)],
        |row| row.get(0),
    )
}

/// Stores a result if the claim still holds, and its reply in any case: it was paid for.
pub(super) fn finish(connection: &Connection, finish: &PreparedFinish, now: i64) -> Result<()> {
    if let Some((cache_key, reply, cost)) = &finish.reply_to_cache {
        reply_cache::store_reply(connection, cache_key, reply, *cost, now)?;
    }
    let claim = &finish.claim;
    if !holds(connection, claim)? {
        return Ok(());
    }
    execute(
        connection,
        "INSERT OR REPLACE INTO results (run, job, round, result) VALUES (?1, ?2, ?3, ?4)",
        params![claim.run.as_str(), claim.job.as_str(), claim.round, finish.result],
    )?;
    // The starts need no end: in this round the result is returned, and a later round counts from
    // zero.
    execute(
        connection,
        "UPDATE claims SET carried_calls = 0, carried_pico = 0, carried_input = 0,
             carried_cached_input = 0, carried_output = 0, carried_unmetered = 0
         WHERE run = ?1 AND job = ?2 AND carried_calls > 0",
        [claim.run.as_str(), claim.job.as_str()],
    )?;
    Ok(())
}

/// Adds a settled call to the cost that the claim carries.
pub(super) fn carry(connection: &Connection, bill: &Settlement) -> Result<()> {
    let Settlement { claim, cost, usage, metered, .. } = bill;
    execute(
        connection,
        "UPDATE claims SET carried_calls = carried_calls + 1,
             carried_pico = carried_pico + ?3, carried_input = carried_input + ?4,
             carried_cached_input = carried_cached_input + ?5,
             carried_output = carried_output + ?6, carried_unmetered = carried_unmetered + ?7
         WHERE run = ?1 AND job = ?2",
        params![
            claim.run.as_str(),
            claim.job.as_str(),
            (*cost).max(Money::ZERO).pico(),
            stored(usage.input_tokens),
            stored(usage.cached_input_tokens),
            stored(usage.output_tokens),
            !metered,
        ],
    )?;
    Ok(())
}

/// Cost that all claims of a run carry.
pub(super) fn unattributed_cost_of(connection: &Connection, run: &RunId) -> Result<Money> {
    query_one(
        connection,
        "SELECT coalesce(sum(carried_pico), 0) FROM claims WHERE run = ?1 AND carried_calls > 0",
        [run.as_str()],
        |row| row.get(0).map(Money::from_pico),
    )
}

/// A job's result of this round or a later one.
pub(super) fn result(connection: &Connection, key: &ClaimKey) -> Result<Option<String>> {
    query_one(
        connection,
        "SELECT result FROM results WHERE run = ?1 AND job = ?2 AND round >= ?3",
        params![key.run.as_str(), key.job.as_str(), key.round],
        |row| row.get(0),
    )
    .optional()
}

/// Starts the job. Starts of an earlier round are cleared: a new round is a deliberate retry.
pub(super) fn grant(connection: &Connection, key: &ClaimKey, owner: &OwnerId) -> Result<Claim> {
    query_one(
        connection,
        "INSERT INTO claims (run, job, owner, round, fence, starts)
         VALUES (?1, ?2, ?3, ?4, 1, 1)
         ON CONFLICT (run, job) DO UPDATE SET
             owner = excluded.owner,
             starts = CASE WHEN excluded.round > round THEN 1 ELSE starts + 1 END,
             alone_starts = CASE WHEN excluded.round > round THEN 0 ELSE alone_starts END,
             alone = 0,
             round = max(round, excluded.round),
             fence = fence + 1
         RETURNING fence, starts, carried_calls, carried_pico, carried_input,
             carried_cached_input, carried_output, alone_starts, carried_unmetered",
        params![key.run.as_str(), key.job.as_str(), owner.as_str(), key.round],
        granted_from,
    )
}

/// Marks the start of the current holder as isolated, or not.
pub(super) fn set_isolated(connection: &Connection, key: &ClaimKey, alone: bool) -> Result<usize> {
    execute(
        connection,
        "UPDATE claims SET alone_starts = alone_starts - alone + ?5, alone = ?5
         WHERE run = ?1 AND job = ?2 AND round = ?3 AND fence = ?4",
        params![key.run.as_str(), key.job.as_str(), key.round, stored(key.fence), alone],
    )
}

/// Ends the start of the current holder.
pub(super) fn requeue(connection: &Connection, key: &ClaimKey) -> Result<usize> {
    execute(
        connection,
        "UPDATE claims SET starts = max(starts - 1, 0), alone_starts = alone_starts - alone,
             alone = 0
         WHERE run = ?1 AND job = ?2 AND round = ?3 AND fence = ?4",
        params![key.run.as_str(), key.job.as_str(), key.round, stored(key.fence)],
    )
}

fn granted_from(row: &Row<'_>) -> Result<Claim> {
    let count = |column| row.get::<_, i64>(column).map(i64::unsigned_abs);
    let small = |column| count(column).map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    Ok(Claim::Granted {
        fence: count(0)?,
        unfinished_starts: small(1)?.saturating_sub(1),
        alone: small(7)?,
        unattributed_cost: UnattributedCost {
            calls: small(2)?,
            unmetered_calls: small(8)?,
            cost: Money::from_pico(row.get(3)?),
            usage: Usage {
                input_tokens: count(4)?,
                cached_input_tokens: count(5)?,
                output_tokens: count(6)?,
            },
        },
    })
}

fn stored(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
