//! The jobs of a run that are published now, on one machine and in a fleet alike.

use super::run_setup::RunSetup;
use crate::error::AppError;
use juror_analysis::fold::Rounds;
use juror_producer::{
    plan::{self, Jobs},
    publish::RoundAssignment,
};
use juror_types::id::RunId;
use std::sync::Arc;

/// Jobs, and the round of each.
pub struct JobsToPublish {
    /// All jobs of the plan.
    pub jobs: Jobs,
    /// Number of those that are published.
    pub planned: u64,
    /// Number of all.
    pub total: u64,
    /// The round of each job, and which are left out.
    pub round_of: RoundAssignment,
}

/// The jobs that are not scored yet, each in the round after its last result; and jobs whose scored
/// result the journal lacks, each in its old round. Without progress, every job in its first round.
pub fn jobs_to_publish(
    setup: &RunSetup,
    run: &RunId,
    progress: Option<Arc<Rounds>>,
) -> Result<JobsToPublish, AppError> {
    let jobs = plan::jobs(&setup.dataset, &setup.options, &setup.template(run));
    let (left_out, round_of): (u64, RoundAssignment) = match progress {
        None => (0, Box::new(|_| Some(0))),
        Some(rounds) => (
            rounds.scored() - rounds.missing(),
            Box::new(move |job| rounds.round_to_send(&job.job_id)),
        ),
    };
    Ok(JobsToPublish {
        jobs: jobs.map_err(AppError::invalid)?,
        planned: setup.plan.jobs.saturating_sub(left_out),
        total: setup.plan.jobs,
        round_of,
    })
}
