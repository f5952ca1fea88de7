//! Handling of one delivery of a job of any run, until it is ended. The ledger books the cost of a
//! result when it stores the result (`judging.rs`), then the result is published, then the delivery
//! is acknowledged; a job that cannot be judged now is held and not lost.

use super::{
    Worker, WorkerError, WorkerRunState, batch_keeper::JobProgress, in_progress::JobsInProgress,
    pause, skip_cancelled_job, warn_once::WarnOnce,
};
use crate::{evaluate::evaluate, interruption::Interruption, run_context::RunContext, telemetry};
use juror_ledger::error::LedgerError;
use juror_queue::{Delivery, Disposition, Priority};
use juror_types::{
    SCHEMA,
    id::RunId,
    job::Job,
    message_check::check_job,
    outcome::{ErrorKind, JobResult},
    shutdown::Shutdown,
};
use std::{sync::Arc, time::Duration};

/// Hold of jobs of a run that waits for a person.
const PAUSED_RUN_DELAY: Duration = Duration::from_secs(10 * 60);
/// Hold of jobs that may be judged soon, or have another worker's result soon; other jobs are
/// judged meanwhile.
const CLAIMED_JOB_DELAY: Duration = Duration::from_secs(30);
/// Delay of jobs whose files another worker may have, or whose result may soon be in the ledger.
const MISSING_FILE_DELAY: Duration = Duration::from_secs(5);
/// Hold of jobs that go to the queue of other workers, or are in progress in this one.
const REDELIVERY_DELAY: Duration = Duration::from_secs(1);
/// Delay of a job that this worker cannot render.
const RENDERING_DELAY: Duration = Duration::from_secs(10);

/// The handler of a worker's deliveries.
pub(super) struct DeliveryHandler {
    pub(super) worker: Worker,
    pub(super) shutdown: Shutdown,
    in_progress: JobsInProgress,
    pub(super) warnings: WarnOnce,
}

impl DeliveryHandler {
    /// A handler without jobs in progress.
    pub(super) fn new(worker: Worker, shutdown: Shutdown) -> Self {
        let warnings = WarnOnce::new(worker.events.clone());
        Self { worker, shutdown, in_progress: JobsInProgress::default(), warnings }
    }

    /// Judges a delivered job, publishes its result and ends the delivery.
    pub(super) async fn handle(&self, delivery: Delivery<Job>) -> Result<(), WorkerError> {
        let _in_hand = telemetry::job_taken(&delivery, &self.worker.metrics);
        let job = &delivery.message;
        let run = job.run_id.clone();
        // One of another version waits for its worker.
        if job.schema == SCHEMA
            && let Err(foreign) = check_job(job)
        {
            let reason = foreign.to_string();
            let message = format!("a job of run {run} is among the dead letters: {reason}");
            self.warnings.warn(&run, message).await;
            return self.end(delivery, Disposition::DeadLetter(reason)).await;
        }
        let reached = match self.in_progress.take(job) {
            Some(_in_progress) => self.process(job).await,
            // Redelivered after a lost connection while the job is still in progress, or published
            // twice.
            None => Err(Interruption::ClaimedElsewhere),
        };
        match reached {
            Ok(JobProgress::Result(result)) => self.publish(*result, delivery).await,
            // The row in the ledger can finish the job, so the delivery is done.
            Ok(JobProgress::Batch) => self.end(delivery, Disposition::Acknowledge).await,
            Err(interruption) => self.requeue(interruption, &run, delivery).await,
        }
    }

    async fn process(&self, job: &Job) -> Result<JobProgress, Interruption> {
        if job.schema != SCHEMA {
            let older = if job.schema < SCHEMA { "program that published it" } else { "worker" };
            return Err(Interruption::UnknownRun(format!(
                "its job has schema {}, and this worker reads schema {SCHEMA}: update the {older}",
                job.schema
            )));
        }
        loop {
            if self.shutdown.drain.is_cancelled() {
                return Err(Interruption::Stopping);
            }
            let context = match self.worker.run_states.run_state(job).await? {
                WorkerRunState::Open(context) => {
                    self.warnings.run_is_open(&job.run_id);
                    context
                }
                WorkerRunState::Pausing => return Err(Interruption::Pausing),
                WorkerRunState::Cancelled => return self.skip(job).await,
                WorkerRunState::Paused(reason) => return Err(Interruption::Paused(reason)),
                WorkerRunState::Unknown(reason) => return Err(Interruption::UnknownRun(reason)),
            };
            if self.leaves_to_others(job, &context) {
                return Err(Interruption::RenderingUnsupported);
            }
            match self.judge(job, &context).await {
                // Only the run's context was stopped; read its state again.
                Err(Interruption::Stopping) if !self.shutdown.drain.is_cancelled() => {}
                Err(Interruption::Paused(reason)) => {
                    self.worker.run_states.pause(&job.run_id, &reason).await?;
                    return Err(Interruption::Paused(reason));
                }
                Ok(reached) => {
                    if let Some(reason) = context.breaker.take_pause_reason() {
                        let run_states = &*self.worker.run_states;
                        pause(run_states, &self.warnings, &job.run_id, &reason).await?;
                    }
                    return Ok(reached);
                }
                evaluated => return evaluated,
            }
        }
    }

    /// True if this worker has no means for a job that other workers may have.
    fn leaves_to_others(&self, job: &Job, context: &RunContext) -> bool {
        let lacks_renderer =
            !self.worker.renders && job.needs_rendering() && !context.is_overdue(job);
        lacks_renderer || context.leaves_rendering_to_others(job)
    }

    /// Judges a job, or makes a row of a batch of it.
    async fn judge(
        &self,
        job: &Job,
        context: &Arc<RunContext>,
    ) -> Result<JobProgress, Interruption> {
        let batches = self.worker.batches.as_ref().zip(context.batches.as_ref());
        if let Some((batches, lane)) = batches
            && let Some(progress) = batches.take(job, context, lane).await?
        {
            return Ok(progress);
        }
        let evaluated = evaluate(job, context).await?;
        if let Some((batches, _)) = batches {
            batches.forget(job).await?;
        }
        Ok(JobProgress::Result(Box::new(evaluated)))
    }

    /// Ends a job of a cancelled run, unless its batch will.
    async fn skip(&self, job: &Job) -> Result<JobProgress, Interruption> {
        if let Some(batches) = &self.worker.batches
            && batches.is_under_way(job).await?
        {
            return Ok(JobProgress::Batch);
        }
        let skipped = skip_cancelled_job::skip(job, &self.worker).await?;
        Ok(JobProgress::Result(Box::new(skipped)))
    }

    /// Publishes a result; only then is its job finished.
    async fn publish(&self, result: JobResult, delivery: Delivery<Job>) -> Result<(), WorkerError> {
        let disposition = final_disposition(&result, &delivery.message);
        let publishing = self.worker.results.publish(result, Priority::Normal);
        match self.shutdown.now.run_until_cancelled(publishing).await {
            Some(published) => published?,
            // The result is stored: the next claim of the job publishes it.
            None => return Ok(()),
        }
        self.end(delivery, disposition).await
    }

    /// Ends the delivery of a job without a result; the error ends this worker.
    async fn requeue(
        &self,
        interruption: Interruption,
        run: &RunId,
        delivery: Delivery<Job>,
    ) -> Result<(), WorkerError> {
        let holds_jobs = self.worker.run_states.holds_jobs();
        if holds_jobs {
            self.warn_of_interruption(&interruption, run).await;
        }
        let (disposition, ended) = match interruption {
            Interruption::Stopping => (Disposition::Requeue, Ok(())),
            // The new holder publishes the result; after a restore of the ledger the job is claimed
            // again.
            Interruption::ClaimLost
            | Interruption::WaitTimeout
            | Interruption::ClaimedElsewhere => {
                // A sole worker holds the claim itself, so retry soon.
                let hold = if holds_jobs { CLAIMED_JOB_DELAY } else { REDELIVERY_DELAY };
                (Disposition::RetryAfter(hold), Ok(()))
            }
            // The pause has already stopped this worker.
            Interruption::Paused(_) | Interruption::Pausing if !holds_jobs => {
                (Disposition::Requeue, Ok(()))
            }
            unsolved if !holds_jobs => (Disposition::Requeue, Err(unsolved.into())),
            Interruption::UnknownRun(_) | Interruption::Pausing | Interruption::Paused(_) => {
                (Disposition::RetryAfter(PAUSED_RUN_DELAY), Ok(()))
            }
            Interruption::FileNotHere(_) | Interruption::LedgerOutage => {
                (Disposition::RetryAfter(MISSING_FILE_DELAY), Ok(()))
            }
            Interruption::RenderingUnsupported => {
                (Disposition::RetryAfter(RENDERING_DELAY), Ok(()))
            }
            Interruption::Ledger(LedgerError::Unavailable(_)) => {
                (self.ledger_outage_disposition(), Ok(()))
            }
            // A broken ledger fails every worker: hold the job and end.
            broken @ Interruption::Ledger(LedgerError::Broken(_)) => {
                (Disposition::RetryAfter(PAUSED_RUN_DELAY), Err(broken.into()))
            }
        };
        self.end(delivery, disposition).await?;
        ended
    }

    /// Warns of an interruption that a person can remedy. The job whose call was refused reports the
    /// pause.
    async fn warn_of_interruption(&self, interruption: &Interruption, run: &RunId) {
        let warning = match interruption {
            Interruption::UnknownRun(reason) => {
                format!("jobs of run {run} are kept for 10 minutes: {reason}")
            }
            Interruption::Paused(reason) => {
                return self.warnings.warn_about_pause(run, reason).await;
            }
            Interruption::FileNotHere(absence) => {
                let warning = format!(
                    "files of run {run} are missing on this worker: {absence}; its jobs are \
                     requeued for other workers and fail if none has them; check --data-root and \
                     its mounts"
                );
                return self.warnings.warn_about_file(run, warning).await;
            }
            Interruption::RenderingUnsupported => format!(
                "jobs of run {run} wait for a worker that can render, which this one cannot: start \
                 juror worker on a machine with a browser, or cancel the run with: \
                 juror cancel {run}"
            ),
            _ => return,
        };
        self.warnings.warn(run, warning).await;
    }

    fn ledger_outage_disposition(&self) -> Disposition {
        match self.shutdown.drain.is_cancelled() {
            true => Disposition::Requeue,
            false => Disposition::RetryAfter(CLAIMED_JOB_DELAY),
        }
    }

    /// Ends a delivery; after `shutdown.now` it is dropped, and so requeued.
    async fn end(
        &self,
        delivery: Delivery<Job>,
        disposition: Disposition,
    ) -> Result<(), WorkerError> {
        match self.shutdown.now.run_until_cancelled(delivery.end(disposition)).await {
            Some(ended) => Ok(ended?),
            None => Ok(()),
        }
    }
}

/// Disposition of a job whose result is published: a job that killed its workers is also
/// dead-lettered, for a person to inspect.
fn final_disposition(result: &JobResult, job: &Job) -> Disposition {
    let poison = result.error.as_ref().filter(|error| error.kind == ErrorKind::Poison);
    match poison {
        Some(error) if result.round == job.round => Disposition::DeadLetter(error.message.clone()),
        _ => Disposition::Acknowledge,
    }
}
