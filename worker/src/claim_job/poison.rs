//! Jobs that kill their workers: they are abandoned after a number of isolated starts.

use super::ClaimedJob;
use juror_types::outcome::{ErrorKind, JobError};

/// Number of unfinished starts after which a job may have killed its workers, and is prepared
/// alone.
const MAX_UNFINISHED_STARTS: u32 = 2;
/// Number of unfinished starts alone after which a job has killed its workers. Starts beside other
/// jobs prove nothing: whatever ends a process ends every job in it.
const MAX_ISOLATED_STARTS: u32 = 3;

impl ClaimedJob<'_> {
    /// True if it may have killed its workers.
    pub fn is_suspect(&self) -> bool {
        self.starts >= MAX_UNFINISHED_STARTS
    }

    /// The error of a job that has killed its workers.
    pub fn poison(&self) -> Option<JobError> {
        (self.isolated_starts >= MAX_ISOLATED_STARTS).then(|| {
            let message = format!(
                "started {} times, the last times isolated, and never finished: it probably kills its \
                 worker; inspect its files, then judge it again with `juror dead-letters replay`, \
                 or with `juror retry`, which retries all unscored jobs of its run",
                self.starts
            );
            JobError { kind: ErrorKind::Poison, message }
        })
    }
}
