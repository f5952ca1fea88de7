//! The jobs of a run that are published now, on one machine and in a fleet alike.

use super::run_setup::RunSetup;
use crate::error::AppError;
use juror_analysis::fold::Rounds;
use juror_producer::{
    plan,
    publish::{RoundAssignment, Submission},
};
use juror_queue::{Priority, Queue};
use juror_types::{event::Events, id::RunId, job::Job};
use std::sync::Arc;
use tokio::sync::watch;

/// The jobs that are not scored yet, each in the round after its last result; and jobs whose scored
/// result the journal lacks, each in its old round. Without progress, every job in its first round.
/// They are published one at a time.
pub fn jobs_to_publish(
    setup: &RunSetup,
    run: &RunId,
    progress: Option<Arc<Rounds>>,
    queue: Arc<dyn Queue<Job>>,
    events: Events,
) -> Result<Submission, AppError> {
    let jobs = plan::jobs(&setup.dataset, &setup.options, &setup.template(run));
    let (left_out, round_of): (u64, RoundAssignment) = match progress {
        None => (0, Box::new(|_| Some(0))),
        Some(rounds) => (
            rounds.scored() - rounds.missing(),
            Box::new(move |job| rounds.round_to_send(&job.job_id)),
        ),
    };
    Ok(Submission {
        queue,
        jobs: jobs.map_err(AppError::invalid)?,
        planned: setup.plan.jobs.saturating_sub(left_out),
        total: setup.plan.jobs,
        round_of,
        priority: Priority::Normal,
        uploader: None,
        window: 1,
        events,
        published: watch::Sender::new(0),
    })
}
