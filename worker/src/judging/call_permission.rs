//! The permission for a call of one job: the wait for a permit, for admission, and between calls.

use crate::{
    concurrency::Permit, interruption::Interruption, judge_request::PreparedRequest,
    judging::Judging, retry_policy::NextStep, run_context::RunContext,
    run_deadline::skip_after_deadline, telemetry,
};
use juror_ledger::admission::{AdmissionOutcome, AdmissionRequest};
use juror_types::{
    id::LeaseId,
    outcome::{ErrorKind, JobError},
};
use std::{pin::pin, time::Duration};
use tokio::time::{Instant, sleep, sleep_until};

/// Time after which an admitted call counts as having waited.
const MIN_WAIT: Duration = Duration::from_millis(5);

/// The permission to make one call.
pub(crate) struct Permission {
    /// Permit that ends with the call.
    pub permit: Permit,
    /// Lease of the money and the tokens that it may take.
    pub lease: LeaseId,
    /// True if it had to wait for admission.
    pub waited: bool,
}

/// The reason why no call may be made.
pub(crate) enum NotPermitted {
    /// The job is skipped.
    Skipped(JobError),
    /// The job ends without a result.
    Interrupted(Interruption),
}

impl From<Interruption> for NotPermitted {
    fn from(interruption: Interruption) -> Self {
        Self::Interrupted(interruption)
    }
}

impl Judging<'_> {
    /// Returns a permit and a lease for one call.
    pub(crate) async fn permission(
        &self,
        prepared: &PreparedRequest,
    ) -> Result<Permission, NotPermitted> {
        if self.context.run_deadline.has_passed() {
            return Err(NotPermitted::Skipped(skip_after_deadline()));
        }
        match self.granted(prepared).await {
            Err(NotPermitted::Interrupted(Interruption::WaitTimeout))
                if self.context.run_deadline.has_passed() =>
            {
                Err(NotPermitted::Skipped(skip_after_deadline()))
            }
            granted => granted,
        }
    }

    async fn granted(&self, prepared: &PreparedRequest) -> Result<Permission, NotPermitted> {
        self.context.breaker.call_wanted();
        let permit = self.wait_for(self.context.concurrency.acquire()).await?;
        let asking = Instant::now();
        let lease = match self.admit(prepared).await {
            Err(interrupted @ NotPermitted::Interrupted(_)) => return Err(interrupted),
            lease => lease,
        };
        if self.context.admission.outages() != self.outages {
            if let Ok(lease) = &lease {
                self.context.admission.release(lease).await.map_err(Interruption::from)?;
            }
            return Err(Interruption::LedgerOutage.into());
        }
        let waited = asking.elapsed() >= MIN_WAIT;
        Ok(Permission { permit, lease: lease?, waited })
    }

    /// Waits until the next call may be tried, or ends the job if none may be.
    pub(crate) async fn wait_for_retry(&self, next: NextStep) -> Result<(), Interruption> {
        telemetry::log_retry(&next);
        match next {
            NextStep::RetryAfter(pause) => match self.wait_for(sleep(pause)).await {
                // The deadline is handled by the next `permission`.
                Err(Interruption::WaitTimeout) if self.context.run_deadline.has_passed() => Ok(()),
                waited => waited,
            },
            NextStep::PauseRun(reason) => {
                // Stops other callers before they are refused too.
                self.context.shutdown.drain.cancel();
                Err(Interruption::Paused(reason))
            }
            NextStep::Requeue => Err(Interruption::Stopping),
            // A cooldown blocks all callers at admission.
            _ => Ok(()),
        }
    }

    /// Waits for a future, but not beyond a stop or the run's deadline, and not longer than a
    /// delivery may be held.
    async fn wait_for<T>(&self, awaited: impl Future<Output = T>) -> Result<T, Interruption> {
        tokio::select! {
            biased;
            () = self.context.shutdown.drain.cancelled() => Err(Interruption::Stopping),
            awaited = awaited => Ok(awaited),
            () = self.end_of_wait() => Err(Interruption::WaitTimeout),
        }
    }

    /// Waits until the delivery must be requeued or the run's deadline has passed.
    async fn end_of_wait(&self) {
        let ends = [self.requeue_by, self.context.run_deadline.at];
        match ends.into_iter().flatten().min() {
            Some(end) => sleep_until(end).await,
            None => std::future::pending().await,
        }
    }

    async fn admit(&self, prepared: &PreparedRequest) -> Result<LeaseId, NotPermitted> {
        let lease = LeaseId::random();
        let ask = || {
            let admission = &self.context.admission;
            self.setup.apply_shared(admission.known_token_counting(&self.setup.endpoint));
            let rule = self.setup.token_count.rule();
            let counted = self.setup.token_scale.counted(&prepared.bounds);
            let (input_tokens, max_output_tokens) =
                rule.tokens(counted, prepared.bounds.max_output_tokens);
            AdmissionRequest {
                lease: lease.clone(),
                owner: self.context.owner.clone(),
                run: self.job.run_id.clone(),
                endpoint: self.setup.endpoint.clone(),
                input_tokens,
                max_output_tokens,
                worst_cost: prepared.bounds.worst_cost,
            }
        };
        match self.wait_for_admission(ask).await? {
            AdmissionOutcome::Admitted => Ok(self.pace(lease).await?),
            AdmissionOutcome::NoBudget { reason } => {
                Err(NotPermitted::Skipped(JobError { kind: ErrorKind::Budget, message: reason }))
            }
            AdmissionOutcome::NoRecord { reason } => Err(Interruption::UnknownRun(reason).into()),
            AdmissionOutcome::Cancelled if self.context.shutdown.drain.is_cancelled() => {
                Err(Interruption::Stopping.into())
            }
            AdmissionOutcome::Cancelled => Err(Interruption::WaitTimeout.into()),
        }
    }

    /// Waits for the process's own ceiling. A wait that ends early releases the lease: nothing was
    /// sent.
    async fn pace(&self, lease: LeaseId) -> Result<LeaseId, Interruption> {
        let paced = self.wait_for(self.setup.ceiling.wait()).await;
        if paced.is_err() {
            self.context.admission.release(&lease).await?;
        }
        paced.map(|()| lease)
    }

    async fn wait_for_admission(
        &self,
        ask: impl Fn() -> AdmissionRequest + Send,
    ) -> Result<AdmissionOutcome, Interruption> {
        let RunContext { waiting, admission, shutdown, .. } = self.context;
        let giving_up = shutdown.drain.child_token();
        let mut admitting = pin!(waiting.admit(&**admission, ask, &giving_up));
        tokio::select! {
            biased;
            admittance = &mut admitting => return Ok(admittance?),
            () = self.end_of_wait() => giving_up.cancel(),
        }
        Ok(admitting.await?)
    }
}
