//! Claims, results and the reply cache in `juror.db`.

use super::{
    SqliteLedger,
    claim_records::{self as claims, PreparedFinish},
    reply_cache::{cache_stats, use_reply},
};
use crate::{
    error::LedgerError,
    job_store::{CacheStats, CachedReply, Claim, ClaimKey, FinishedJob, JobStore},
    json::{JsonRecords, read_cached_reply},
};
use async_trait::async_trait;
use juror_types::id::{Digest, OwnerId};

#[async_trait]
impl JobStore for SqliteLedger {
    async fn claim(&self, key: &ClaimKey, owner: &OwnerId) -> Result<Claim, LedgerError> {
        let (wanted, owner) = (key.clone(), owner.clone());
        let granted = self
            .writer
            .perform(move |connection, _| {
                Ok(match claims::result(connection, &wanted)? {
                    Some(text) => Found::Result(text),
                    None => Found::Claim(claims::grant(connection, &wanted, &owner)?),
                })
            })
            .await?;
        match granted {
            Found::Claim(claim) => Ok(claim),
            Found::Result(text) => Ok(Claim::Done(Box::new(
                JsonRecords::SQLITE.read(&text, || format!("result of job {}", key.job))?,
            ))),
        }
    }

    async fn finish(&self, finished: FinishedJob) -> Result<bool, LedgerError> {
        let finish = PreparedFinish::new(finished)?;
        self.writer
            .perform_durably(move |connection, memory| {
                claims::finish(connection, &finish, memory.now())?;
                claims::holds(connection, &finish.claim)
            })
            .await
    }

    async fn set_isolated(&self, key: &ClaimKey, alone: bool) -> Result<(), LedgerError> {
        let key = key.clone();
        self.writer
            .perform(move |connection, _| claims::set_isolated(connection, &key, alone))
            .await
            .map(drop)
    }

    async fn requeue(&self, key: &ClaimKey) -> Result<(), LedgerError> {
        let key = key.clone();
        self.writer.perform(move |connection, _| claims::requeue(connection, &key)).await.map(drop)
    }

    async fn record_missing_file(&self, _: &ClaimKey) -> Result<Option<u32>, LedgerError> {
        Ok(None)
    }

    async fn cached_reply(&self, cache_key: &Digest) -> Result<Option<CachedReply>, LedgerError> {
        let wanted = *cache_key;
        let text = self
            .writer
            .perform(move |connection, memory| use_reply(connection, &wanted, memory.now()))
            .await?;
        Ok(text.as_deref().and_then(read_cached_reply))
    }

    async fn cache_stats(&self) -> Result<CacheStats, LedgerError> {
        self.writer.perform(|connection, _| cache_stats(connection)).await
    }

    async fn clear_cache(&self) -> Result<u64, LedgerError> {
        self.writer
            .perform_durably(|connection, _| {
                Ok(connection.execute("DELETE FROM replies", [])? as u64)
            })
            .await
    }
}

enum Found {
    Result(String),
    Claim(Claim),
}
