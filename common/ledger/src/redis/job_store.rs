//! Claims, results and the reply cache in Redis.

use crate::{
    error::LedgerError,
    job_store::{
        CacheStats, CachedReply, Claim, ClaimKey, FinishedJob, JobStore, UnattributedCost,
    },
    json::{JsonRecords, read_cached_reply, write_json},
    redis::{RedisLedger, encoding::money, failure::unexpected_reply, scripts},
};
use async_trait::async_trait;
use futures_util::{
    TryStreamExt as _,
    future::ready,
    stream::{self, Stream},
};
use juror_types::{
    id::{Digest, OwnerId, RunId},
    usage::Usage,
};
use std::pin::pin;

/// Number of keys that one step of a scan examines.
const SCAN_COUNT: usize = 1_000;

#[async_trait]
impl JobStore for RedisLedger {
    async fn claim(&self, key: &ClaimKey, owner: &OwnerId) -> Result<Claim, LedgerError> {
        let process = self.connection.process().to_string();
        let [run, job, round, _] = claim_arguments(key);
        let arguments = [run, job, round, owner.to_string(), process];
        let answer = self.connection.perform(&scripts::CLAIM, &arguments).await?;
        match answer.split_first() {
            Some((word, [result])) if word == "done" => Ok(Claim::Done(Box::new(
                JsonRecords::REDIS.read(result, || format!("result of job {}", key.job))?,
            ))),
            Some((word, granted)) if word == "granted" => {
                granted_from(granted).ok_or_else(|| unexpected_reply("claim a job"))
            }
            Some((word, [])) if word == "held" => Ok(Claim::Held),
            _ => Err(unexpected_reply("claim a job")),
        }
    }

    async fn finish(&self, finished: FinishedJob) -> Result<bool, LedgerError> {
        let claim = finished.claim.clone();
        let FinishArguments { result, cache_key, reply, usable } =
            FinishArguments::from_job(finished)?;
        let kept = self.settings.replies_kept.as_millis().to_string();
        let [run, job, round, fence] = claim_arguments(&claim);
        let arguments = [run, job, round, fence, result, cache_key, reply, kept, usable];
        self.connection.perform_check(&scripts::FINISH, &arguments).await
    }

    async fn set_isolated(&self, key: &ClaimKey, alone: bool) -> Result<(), LedgerError> {
        let [run, job, round, fence] = claim_arguments(key);
        let arguments = [run, job, round, fence, u8::from(alone).to_string()];
        self.connection.perform(&scripts::SET_ISOLATED, &arguments).await.map(drop)
    }

    async fn requeue(&self, key: &ClaimKey) -> Result<(), LedgerError> {
        self.connection.perform(&scripts::REQUEUE, &claim_arguments(key)).await.map(drop)
    }

    async fn record_missing_file(&self, key: &ClaimKey) -> Result<Option<u32>, LedgerError> {
        let [run, job, ..] = claim_arguments(key);
        let script = &scripts::RECORD_MISSING_FILE;
        let count = |missed: &str| missed.parse().ok().map(Some);
        self.connection.perform_for(script, &[run, job], "record a missing file", count).await
    }

    async fn count_unusable(&self, run: &RunId) -> Result<Option<u32>, LedgerError> {
        let step = "count items without a usable answer";
        let count = |row: &str| row.parse().ok().map(Some);
        self.connection.perform_for(&scripts::COUNT_UNUSABLE, &[run.to_string()], step, count).await
    }

    async fn cached_reply(&self, cache_key: &Digest) -> Result<Option<CachedReply>, LedgerError> {
        let mut command = redis::cmd("GET");
        command.arg(self.connection.key(&format!("reply:{cache_key}")));
        let text: Option<String> = self.connection.command(&command).await?;
        Ok(text.as_deref().and_then(read_cached_reply))
    }

    async fn cache_stats(&self) -> Result<CacheStats, LedgerError> {
        let mut stats = CacheStats::default();
        let mut pages = pin!(self.reply_keys());
        while let Some(keys) = pages.try_next().await? {
            let texts: Vec<Option<String>> =
                self.connection.command(redis::cmd("MGET").arg(&keys)).await?;
            for text in texts.iter().flatten() {
                stats.replies += 1;
                stats.bytes += text.len() as u64;
                match read_cached_reply(text) {
                    Some(reply) if reply.judge.simulated => stats.simulated_usd += reply.cost,
                    Some(reply) => stats.cost_usd += reply.cost,
                    None => {}
                }
            }
        }
        Ok(stats)
    }

    async fn clear_cache(&self) -> Result<u64, LedgerError> {
        let mut cleared = 0;
        let mut pages = pin!(self.reply_keys());
        while let Some(keys) = pages.try_next().await? {
            cleared += self.connection.command::<u64>(redis::cmd("UNLINK").arg(&keys)).await?;
        }
        Ok(cleared)
    }
}

impl RedisLedger {
    /// Keys of all cached replies, some at a time.
    fn reply_keys(&self) -> impl Stream<Item = Result<Vec<String>, LedgerError>> {
        let pages = stream::try_unfold(Some(String::from("0")), async |cursor| {
            let Some(cursor) = cursor else { return Ok(None) };
            let mut command = redis::cmd("SCAN");
            command.arg(cursor).arg("MATCH").arg(self.connection.key("reply:*"));
            command.arg("COUNT").arg(SCAN_COUNT);
            let (next, keys): (String, Vec<String>) = self.connection.command(&command).await?;
            Ok(Some((keys, Some(next).filter(|next| next != "0"))))
        });
        pages.try_filter(|keys| ready(!keys.is_empty()))
    }
}

/// Script arguments for a finished job; empty if none is finished.
#[derive(Default)]
pub(crate) struct FinishArguments {
    /// The result, as JSON.
    pub(crate) result: String,
    /// Key under which the reply is cached; empty if it is not.
    pub(crate) cache_key: String,
    /// The reply, as JSON.
    pub(crate) reply: String,
    /// 1 if the result has a usable reply, otherwise 0.
    pub(crate) usable: String,
}

impl FinishArguments {
    /// Writes the JSON.
    pub(crate) fn from_job(finished: FinishedJob) -> Result<Self, LedgerError> {
        let (cache_key, reply) = match &finished.reply_to_cache {
            Some((cache_key, reply)) => (cache_key.to_string(), write_json(reply)?),
            None => Default::default(),
        };
        let usable = u8::from(finished.result.has_usable_reply() == Some(true)).to_string();
        Ok(Self { result: write_json(&finished.result)?, cache_key, reply, usable })
    }
}

fn claim_arguments(key: &ClaimKey) -> [String; 4] {
    [key.run.to_string(), key.job.to_string(), key.round.to_string(), key.fence.to_string()]
}

fn granted_from(answer: &[String]) -> Option<Claim> {
    let [fence, starts, alone, calls, cost, input, cached_input, output, unmetered] = answer else {
        return None;
    };
    Some(Claim::Granted {
        fence: fence.parse().ok()?,
        unfinished_starts: starts.parse::<u32>().ok()?.saturating_sub(1),
        alone: alone.parse().ok()?,
        unattributed_cost: UnattributedCost {
            calls: calls.parse().ok()?,
            unmetered_calls: unmetered.parse().ok()?,
            cost: money(cost)?,
            usage: Usage {
                input_tokens: input.parse().ok()?,
                cached_input_tokens: cached_input.parse().ok()?,
                output_tokens: output.parse().ok()?,
            },
        },
    })
}
