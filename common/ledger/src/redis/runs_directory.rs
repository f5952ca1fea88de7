//! Directory in which the results of a fleet are stored.

use crate::{
    error::LedgerError,
    redis::{RedisLedger, failure::unexpected_reply, scripts},
};
use std::fmt;

/// A runs directory as its aggregator registered it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunsDirectory {
    /// Random, and stored in the directory itself, which may have another path on another machine.
    pub id: String,
    /// The machine that registered it last.
    pub host: String,
    /// Path on that machine.
    pub path: String,
}

impl RunsDirectory {
    /// A new random id.
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
    /// Registers the directory for the fleet's results. Returns the registered one, which is
    /// another if one was registered before, unless this one is to replace it.
    pub async fn claim_runs_directory(
        &self,
        directory: &RunsDirectory,
        take_over: bool,
    ) -> Result<RunsDirectory, LedgerError> {
        let RunsDirectory { id, host, path } = directory.clone();
        let arguments = [id, host, path, u8::from(take_over).to_string()];
        let answer = self.connection.perform(&scripts::CLAIM_RUNS_DIRECTORY, &arguments).await?;
        let Ok([id, host, path]) = <[String; 3]>::try_from(answer) else {
            return Err(unexpected_reply("register the runs directory"));
        };
        Ok(RunsDirectory { id, host, path })
    }
}
