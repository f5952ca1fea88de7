//! Directory that the results of a fleet go to.

use crate::{
    error::LedgerError,
    redis::{RedisLedger, failure::odd_answer, scripts},
};
use std::fmt;

/// A runs directory, as its aggregator tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunsDirectory {
    /// Random, and kept in the directory itself: the same one may have another path elsewhere.
    pub id: String,
    /// The machine from which it was seen last.
    pub host: String,
    /// Its path there.
    pub path: String,
}

impl RunsDirectory {
    /// An id that no other directory has.
    pub fn random_id() -> String {
        format!("{:032x}", rand::random::<u128>())
    }
}

impl fmt::Display for RunsDirectory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} on {}", self.path, self.host)
    }
}

impl RedisLedger {
    /// Says that the fleet's results go to this directory. Answers to which they go: to another
    /// one if that has them already, unless this one is to take them over.
    pub async fn claim_runs_directory(
        &self,
        directory: &RunsDirectory,
        take_over: bool,
    ) -> Result<RunsDirectory, LedgerError> {
        let RunsDirectory { id, host, path } = directory.clone();
        let arguments = [id, host, path, u8::from(take_over).to_string()];
        let answer = self.connection.perform(&scripts::CLAIM_RUNS_DIRECTORY, &arguments).await?;
        let Ok([id, host, path]) = <[String; 3]>::try_from(answer) else {
            return Err(odd_answer("tell where results go"));
        };
        Ok(RunsDirectory { id, host, path })
    }
}
