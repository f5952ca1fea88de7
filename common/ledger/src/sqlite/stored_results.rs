//! The results of a run in `juror.db`, for recovering its journal.

use super::{
    SqliteLedger,
    statements::{query_all, query_one},
};
use crate::{error::LedgerError, json::JsonRecords};
use juror_types::{
    id::{JobId, RunId},
    outcome::JobResult,
};
use rusqlite::{OptionalExtension as _, params};

/// Results per page.
const PAGE_SIZE: u32 = 1_000;

impl SqliteLedger {
    /// The next page of jobs of a run that have a stored result, each with its round, after this
    /// job by id; empty at the end.
    pub async fn stored_rounds(
        &self,
        run: &RunId,
        after: Option<&JobId>,
    ) -> Result<Vec<(JobId, u32)>, LedgerError> {
        let (run, after) = (run.clone(), after.map_or("", JobId::as_str).to_owned());
        self.writer
            .perform(move |connection, _| {
                query_all(
                    connection,
                    "SELECT job, round FROM results WHERE run = ?1 AND job > ?2
                     ORDER BY job LIMIT ?3",
                    params![run.as_str(), after, PAGE_SIZE],
                    |row| Ok((JobId::new(row.get::<_, String>(0)?), row.get(1)?)),
                )
            })
            .await
    }

    /// The stored result of a job, if it has one.
    pub async fn stored_result(
        &self,
        run: &RunId,
        job: &JobId,
    ) -> Result<Option<JobResult>, LedgerError> {
        let (of_run, of_job) = (run.clone(), job.clone());
        let query = "SELECT result FROM results WHERE run = ?1 AND job = ?2";
        let text = self.writer.perform(move |connection, _| {
            let key = [of_run.as_str(), of_job.as_str()];
            query_one(connection, query, key, |row| row.get::<_, String>(0)).optional()
        });
        text.await?
            .map(|text| JsonRecords::SQLITE.read(&text, || format!("result of job {job}")))
            .transpose()
    }
}
