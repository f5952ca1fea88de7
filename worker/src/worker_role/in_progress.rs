//! Jobs in progress in this worker: after a broken connection the broker delivers them again, maybe
//! to the very worker that still waits for their verdicts.

use juror_types::{id::JobId, job::Job};
use parking_lot::Mutex;
use std::collections::HashSet;

/// Jobs in progress, by id and round.
#[derive(Debug, Default)]
pub struct JobsInProgress(Mutex<HashSet<(JobId, u32)>>);

/// A mark of a job as in progress until this is dropped.
#[derive(Debug)]
pub struct InProgressGuard<'a> {
    all: &'a JobsInProgress,
    job: (JobId, u32),
}

impl JobsInProgress {
    /// Marks a job as in progress; `None` if it is already.
    pub fn take(&self, job: &Job) -> Option<InProgressGuard<'_>> {
        let job = (job.job_id.clone(), job.round);
        let is_new = self.0.lock().insert(job.clone());
        is_new.then(|| InProgressGuard { all: self, job })
    }
}

impl Drop for InProgressGuard<'_> {
    fn drop(&mut self) {
        self.all.0.lock().remove(&self.job);
    }
}
