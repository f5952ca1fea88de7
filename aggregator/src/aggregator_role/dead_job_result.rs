//! Result of a job that killed its workers.

use juror_queue::DeadLetter;
use juror_types::{
    job::Job,
    outcome::{ErrorKind, JobError, JobResult, Outcome},
    rubric::{Rubric, zero},
    run::RunRecord,
};

/// The result of a dead job in its round, so that its run ends. The worker that dead-lettered it
/// may have published one too; the second one is a duplicate.
pub(super) fn result_of(letter: &DeadLetter<Job>, record: &RunRecord) -> JobResult {
    let DeadLetter { message: job, reason, .. } = letter;
    let mut result = JobResult::empty(job, Outcome::Failed);
    result.pipeline_success = Some(false);
    if job.judge.is_some() {
        // The report warns of an invalid rubric.
        let rubric = Rubric::parse(&record.rubric_text, "the run's rubric").ok();
        result.semantic = rubric.map(|rubric| zero(&rubric, reason));
    }
    result.error = Some(JobError { kind: ErrorKind::Poison, message: reason.clone() });
    result
}
