//! Dead letters of jobs that never started: the broker gave up on their deliveries, not a worker on
//! the job. They are resent instead of becoming results.

use async_trait::async_trait;
use juror_ledger::redis::FleetBackend;
use juror_queue::{DeadLetter, DeadLetters, Delivery, Queue, QueueError, Subscription};
use juror_types::{
    event::{Event, Events},
    job::Job,
};
use std::{sync::Arc, time::Duration};
use tokio::time::sleep;

/// Interval of queries to an unreachable backend.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// Dead letters without those of jobs that are resent.
pub(super) struct ResendingSubscription {
    pub(super) inner: Box<dyn Subscription<DeadLetter<Job>>>,
    pub(super) backend: Arc<dyn FleetBackend>,
    pub(super) jobs: Arc<dyn Queue<Job>>,
    pub(super) dead_letters: Arc<dyn DeadLetters<Job>>,
    pub(super) events: Events,
}

#[async_trait]
impl Subscription<DeadLetter<Job>> for ResendingSubscription {
    async fn next(&mut self) -> Result<Option<Delivery<DeadLetter<Job>>>, QueueError> {
        while let Some(delivery) = self.inner.next().await? {
            let letter = &delivery.message;
            if !letter.is_undelivered || !self.allows(&letter.message).await {
                return Ok(Some(delivery));
            }
            self.resend(delivery).await?;
        }
        Ok(None)
    }

    async fn close(self: Box<Self>) {
        self.inner.close().await;
    }
}

impl ResendingSubscription {
    /// True if the job may be resent; waits for an unreachable backend.
    async fn allows(&mut self, job: &Job) -> bool {
        loop {
            match self.backend.allow_resend(job).await {
                Ok(allowed) => return allowed,
                Err(error) => tracing::debug!(%error, "a dead letter waits for the ledger"),
            }
            sleep(RETRY_INTERVAL).await;
        }
    }

    async fn resend(&mut self, delivery: Delivery<DeadLetter<Job>>) -> Result<(), QueueError> {
        let DeadLetter { message: job, priority, reason, .. } = (*delivery.message).clone();
        let (id, round) = (job.job_id.clone(), job.round);
        self.events
            .emit(Event::Warning(format!(
                "job {id} of run {} is resent: it never started ({reason})",
                job.run_id
            )))
            .await;
        self.jobs.publish(job, priority).await?;
        delivery.acknowledge().await?;
        let is_resent = |dead: &Job| dead.job_id == id && dead.round == round;
        self.dead_letters.remove_dead_letters(&is_resent).await.map(drop)
    }
}
