//! Table of cached replies.

use super::statements::{execute, query_one};
use crate::job_store::CacheStats;
use juror_types::{id::Digest, usage::Money};
use rusqlite::{Connection, OptionalExtension as _, Result, Row, params};

const MILLISECONDS_A_DAY: i64 = 86_400_000;

/// Stores a reply as used on the day of `now`.
pub(super) fn store_reply(
    connection: &Connection,
    cache_key: &Digest,
    reply: &str,
    cost: Money,
    now: i64,
) -> Result<()> {
    execute(
        connection,
        "INSERT OR REPLACE INTO replies (question, reply, bytes, cost_pico, used_day)
         VALUES (?1, ?2, ?3, ?4, ?5)",
        params![cache_key.as_bytes().as_slice(), reply, reply.len() as i64, cost.pico(), day(now)],
    )
    .map(drop)
}

/// Reads a reply and records its use on the day of `now`.
pub(super) fn use_reply(
    connection: &Connection,
    cache_key: &Digest,
    now: i64,
) -> Result<Option<String>> {
    let cache_key = cache_key.as_bytes().as_slice();
    let query = "SELECT reply, used_day FROM replies WHERE question = ?1";
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, i64>(1)?));
    let known = query_one(connection, query, [cache_key], read).optional()?;
    let Some((reply, used_day)) = known else { return Ok(None) };
    if used_day < day(now) {
        let statement = "UPDATE replies SET used_day = ?2 WHERE question = ?1";
        execute(connection, statement, params![cache_key, day(now)])?;
    }
    Ok(Some(reply))
}

/// Days since 1970 of a time in milliseconds.
pub(crate) fn day(milliseconds: i64) -> i64 {
    milliseconds.div_euclid(MILLISECONDS_A_DAY)
}

/// Numbers, sizes and costs of all replies.
pub(super) fn cache_stats(connection: &Connection) -> Result<CacheStats> {
    query_one(
        connection,
        "SELECT count(*), coalesce(sum(bytes), 0),
             coalesce(sum(cost_pico) FILTER (WHERE NOT simulated), 0),
             coalesce(sum(cost_pico) FILTER (WHERE simulated), 0)
         FROM (SELECT bytes, cost_pico,
                   CASE WHEN json_valid(reply) THEN json_extract(reply, '$.judge.simulated') END
                       AS simulated
               FROM replies)",
        [],
        |row| {
            Ok(CacheStats {
                replies: row.get::<_, i64>(0)?.unsigned_abs(),
                bytes: row.get::<_, i64>(1)?.unsigned_abs(),
                cost_usd: Money::from_pico(row.get(2)?),
                simulated_usd: Money::from_pico(row.get(3)?),
            })
        },
    )
}
