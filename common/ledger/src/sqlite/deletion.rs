//! Deletion of runs whose files are gone and of unused cached replies, so that `juror.db` does not
//! grow without bound.

use super::{
    SqliteLedger,
    reply_cache::day,
    schema,
    statements::{execute, query_one},
};
use crate::error::LedgerError;
use juror_types::id::RunId;
use std::path::Path;

/// Queries that find pending work of a run: calls, and rows of batches.
const PENDING_WORK: [&str; 2] = [
    "SELECT EXISTS (SELECT 1 FROM leases WHERE run = ?1 AND standing = 'outstanding')",
    "SELECT EXISTS (SELECT 1 FROM batch_rows WHERE run = ?1 AND open)",
];

/// Statements that delete everything of a run except its spending in days and months.
const DELETE_RUN: [&str; 7] = [
    "DELETE FROM results WHERE run = ?1",
    "DELETE FROM claims WHERE run = ?1",
    "DELETE FROM leases WHERE run = ?1",
    "DELETE FROM run_labels WHERE run = ?1",
    "DELETE FROM batch_rows WHERE run = ?1",
    "DELETE FROM batch_shards WHERE run = ?1",
    "DELETE FROM batch_numbers WHERE run = ?1",
];

/// Statements that delete the run's own budget and account.
const DELETE_BUDGET: [&str; 2] =
    ["DELETE FROM budgets WHERE scope = ?1", "DELETE FROM accounts WHERE scope = ?1"];

impl SqliteLedger {
    /// Deletes a run: its results, claims, batches, budget and account. Its spending stays in the
    /// accounts of its days and months. Returns false, without a change, for a run with calls or
    /// batches in progress.
    pub async fn delete_run(&self, run: &RunId) -> Result<bool, LedgerError> {
        let run = run.clone();
        self.writer
            .perform_durably(move |connection, _| {
                for query in PENDING_WORK {
                    if query_one(connection, query, [run.as_str()], |row| row.get(0))? {
                        return Ok(false);
                    }
                }
                for statement in DELETE_RUN {
                    execute(connection, statement, [run.as_str()])?;
                }
                for statement in DELETE_BUDGET {
                    execute(connection, statement, [format!("run:{run}")])?;
                }
                Ok(true)
            })
            .await
    }

    /// Number of cached replies without a use in the last `days` days.
    pub async fn unused_replies(&self, days: u32) -> Result<u64, LedgerError> {
        self.writer
            .perform(move |connection, memory| {
                let query = "SELECT count(*) FROM replies WHERE used_day < ?1";
                let first = day(memory.now()) - i64::from(days);
                let count = query_one(connection, query, [first], |row| row.get::<_, i64>(0))?;
                Ok(count.unsigned_abs())
            })
            .await
    }

    /// Deletes cached replies without a use in the last `days` days; returns their number.
    pub async fn delete_unused_replies(&self, days: u32) -> Result<u64, LedgerError> {
        self.writer
            .perform_durably(move |connection, memory| {
                let statement = "DELETE FROM replies WHERE used_day < ?1";
                let first = day(memory.now()) - i64::from(days);
                Ok(execute(connection, statement, [first])? as u64)
            })
            .await
    }

    /// Returns the space of deleted records to the file system. Call it when the file is closed;
    /// while another process writes it, this fails after a timeout without harm.
    ///
    /// # Errors
    /// Those of [`SqliteLedger::open`].
    pub fn shrink(file: &Path) -> Result<(), LedgerError> {
        let connection = schema::open(file)?;
        connection.execute_batch("VACUUM").map_err(|error| {
            LedgerError::Unavailable(format!("{} cannot be compacted: {error}", file.display()))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        job_store::{self, FinishedJob, JobStore as _},
        sqlite::tests::Folder,
        test_requests::claim,
    };
    use juror_types::id::Digest;

    #[tokio::test]
    async fn unreadable_reply_is_missing_and_replaced() {
        let folder = Folder::new();
        let backend = folder.open();
        let cache_key = Digest::from_content(b"asked");
        for job in ["first", "second"] {
            assert_eq!(backend.cached_reply(&cache_key).await.unwrap(), None);
            let key = claim(&backend, job).await;
            let reply_to_cache = Some((cache_key, job_store::conformance::reply()));
            let result = job_store::conformance::result(&key, "answer");
            let finished = FinishedJob { claim: key, result, reply_to_cache };
            assert!(backend.finish(finished).await.unwrap());
            assert!(backend.cached_reply(&cache_key).await.unwrap().is_some());
            if job == "first" {
                let connection = rusqlite::Connection::open(folder.file()).unwrap();
                connection.execute("UPDATE replies SET reply = 'half of {'", []).unwrap();
                assert_eq!(backend.cache_stats().await.unwrap().replies, 1);
            }
        }
        backend.close().await;
    }

    #[tokio::test]
    async fn unused_replies_expire() {
        const DAY: i64 = 86_400_000;
        const QUESTIONS: [&[u8]; 2] = [b"asked each night", b"asked once"];
        let folder = Folder::new();
        let backend = folder.open();
        for (number, question) in QUESTIONS.iter().enumerate() {
            let key = claim(&backend, &format!("job {number}")).await;
            let reply_to_cache =
                Some((Digest::from_content(question), job_store::conformance::reply()));
            let result = job_store::conformance::result(&key, "answer");
            assert!(
                backend.finish(FinishedJob { claim: key, result, reply_to_cache }).await.unwrap()
            );
        }
        folder.pass(3 * DAY);
        assert!(backend.cached_reply(&Digest::from_content(QUESTIONS[0])).await.unwrap().is_some());
        folder.pass(2 * DAY);
        for (days, unused) in [(5, 0), (4, 1), (2, 1), (1, 2)] {
            assert_eq!(backend.unused_replies(days).await.unwrap(), unused, "{days} days");
        }
        assert_eq!(backend.delete_unused_replies(2).await.unwrap(), 1);
        for (question, kept) in QUESTIONS.iter().zip([true, false]) {
            assert_eq!(
                backend.cached_reply(&Digest::from_content(question)).await.unwrap().is_some(),
                kept
            );
        }
        backend.close().await;
    }
}
