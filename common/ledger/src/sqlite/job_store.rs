//! Claims, results and the reply cache in `juror.db`.

use super::{
    SqliteLedger,
    claim_records::{ClaimRecords, PreparedFinish},
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
                let claims = ClaimRecords(connection);
                match claims.result(&wanted)? {
                    Some(text) => Ok(Found::Result(text)),
                    None => Ok(Found::Claim(claims.grant(&wanted, &owner)?)),
                }
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
                let claims = ClaimRecords(connection);
                claims.finish(&finish, memory.now())?;
                claims.holds(&finish.claim)
            })
            .await
    }

    async fn set_isolated(&self, key: &ClaimKey, alone: bool) -> Result<(), LedgerError> {
        let key = key.clone();
        self.writer
            .perform(move |connection, _| ClaimRecords(connection).set_isolated(&key, alone))
            .await
    }

    async fn requeue(&self, key: &ClaimKey) -> Result<(), LedgerError> {
        let key = key.clone();
        self.writer.perform(move |connection, _| ClaimRecords(connection).requeue(&key)).await
    }

    async fn record_missing_file(&self, _: &ClaimKey) -> Result<Option<u32>, LedgerError> {
        Ok(None)
    }

    async fn cached_reply(&self, cache_key: &Digest) -> Result<Option<CachedReply>, LedgerError> {
        let wanted = *cache_key;
        let text = self
            .writer
            .perform(move |connection, memory| Ok(use_reply(connection, &wanted, memory.now())?))
            .await?;
        Ok(text.as_deref().and_then(read_cached_reply))
    }

    async fn cache_stats(&self) -> Result<CacheStats, LedgerError> {
        self.writer.perform(|connection, _| Ok(cache_stats(connection)?)).await
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
