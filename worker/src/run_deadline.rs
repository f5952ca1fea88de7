//! Deadline of a run: whether it has passed, and what becomes of the jobs without a call.

use jiff::Timestamp;
use juror_types::{
    outcome::{ErrorKind, JobError},
    run::RunRecord,
};
use std::time::Duration;
use tokio::time::Instant;

/// Time after which no call of a run begins.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunDeadline {
    /// The time by this process's clock; `None` if the run has no deadline.
    pub at: Option<Instant>,
}

impl RunDeadline {
    /// The deadline in a run's record.
    pub fn in_record(record: &RunRecord) -> Self {
        let left = record.deadline.map(|deadline| deadline.duration_since(Timestamp::now()));
        // A deadline beyond the clock's range is none.
        let at = left.and_then(|left| {
            Instant::now().checked_add(Duration::try_from(left).unwrap_or_default())
        });
        Self { at }
    }

    /// True if no further call of the run may begin.
    pub fn has_passed(self) -> bool {
        self.at.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// The reason why a job that had no call before its run's deadline is skipped.
pub(crate) fn skip_after_deadline() -> JobError {
    let message = "the run's deadline passed before this job's call".to_owned();
    JobError { kind: ErrorKind::Deadline, message }
}
