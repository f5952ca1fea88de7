//! Calls to the judge: admit, call, settle, and decide the next step. No other module calls.

mod apply_backpressure;
pub(crate) mod call_conclusion;
mod call_permission;
mod learn_token_count;

use crate::{
    call_bill::CallBill,
    cost_bounds::Bounds,
    interruption::Interruption,
    judge_request::PreparedRequest,
    judging::{
        call_conclusion::{CallConclusion, FirstVerdict, JobAfterCall},
        call_permission::{NotPermitted, Permission},
    },
    result_builder::{ResultBuilder, judge_record},
    retry_policy::{LeaseEnd, NextStep},
    run_context::{JudgeSetup, RunContext},
    telemetry,
    vision::{Call, CallEnd},
};
use juror_ledger::{
    admission::{Admission, Observation, Settlement, TokenCounting},
    job_store::{CachedReply, ClaimKey, FinishedJob},
};
use juror_telemetry::CallCost;
use juror_types::{
    event::{Event, Events},
    id::{Digest, LeaseId},
    job::{Job, Judge},
    lane::Lane,
    outcome::JobResult,
};
use tokio::time::Instant;

/// End of a job's judging.
pub enum Judged {
    /// The result was stored together with the settlement of its last call.
    Stored(Box<JobResult>),
    /// The result is not stored yet: no call of it is to be settled.
    Unstored(Box<FinishedJob>),
}

/// The lease of a call that has ended, with its bill if it is settled.
pub(crate) struct EndedLease {
    lease: LeaseId,
    end: LeaseEnd,
    pub(crate) bill: Option<CallBill>,
}

/// Inputs of one job's calls.
pub struct Judging<'job> {
    pub job: &'job Job,
    pub judge: &'job Judge,
    /// This worker's access to it.
    pub setup: &'job JudgeSetup,
    pub context: &'job RunContext,
    /// Time by which its delivery must be requeued.
    pub requeue_by: Option<Instant>,
    /// Outages of the ledger before the job was claimed.
    pub outages: u64,
}

impl Judging<'_> {
    /// Calls the judge until there is a verdict, or until further calls are useless.
    pub async fn judge(
        &self,
        mut prepared: PreparedRequest,
        mut builder: ResultBuilder,
    ) -> Result<Judged, Interruption> {
        let Self { judge, setup, context, .. } = *self;
        let mut tally = prepared.first_tally(&builder, &setup.terms);
        let mut first: Option<FirstVerdict> = None;
        loop {
            let Permission { permit, lease, waited } = match self.permission(&prepared).await {
                Ok(permission) => permission,
                Err(NotPermitted::Interrupted(interruption)) => return Err(interruption),
                Err(NotPermitted::Skipped(reason)) => {
                    let ended = match first {
                        Some(first) => first.score(builder),
                        None => builder.skipped(reason),
                    };
                    return Ok(Judged::Unstored(Box::new(ended)));
                }
            };
            prepared.request.slower = tally.slower();
            let call = self.call(&prepared).await;
            let mut decision =
                CallConclusion::new(&call.end, &judge.model, setup, context, &mut tally);
            decision.next = self.apply_backpressure(&permit, &call, decision.next).await;
            let (lease_end, sent) = (decision.lease_end, (&call.end, Lane::Realtime));
            let bounds = &prepared.bounds;
            let lease =
                EndedLease::new((lease, lease_end), sent, bounds, setup, &context.events).await;
            let counting = self.learn_counting(&prepared, &call, lease_end, waited);
            // Keeps the permit during a cooldown or pause, when another call would be refused too.
            let _held = matches!(decision.next, NextStep::Cooldown(_) | NextStep::PauseRun(_))
                .then_some(permit);
            self.learn(&call, &decision.next, counting).await?;

            let cost = lease.cost(bounds);
            telemetry::call_ended(&call, decision.verdict.is_some(), cost, &judge.model, context);
            builder.called(judge, &call.end, lease.bill.as_ref(), bounds);
            let reply_to_cache =
                reply_for_cache(prepared.cache_key, judge, setup, &call.end, lease.bill);
            let next;
            (next, builder) = match decision.end_job(builder, reply_to_cache, &mut first) {
                JobAfterCall::Unfinished(next, builder) => (next, builder),
                JobAfterCall::Finished(finished) => {
                    return lease.record_with_job(&*context.admission, finished).await;
                }
            };
            lease.record(&*context.admission, &builder.claim, None).await?;
            if next == NextStep::RetryLonger {
                prepared.raise_output_limit(&setup.terms);
            }
            self.wait_for_retry(next).await?;
        }
    }

    async fn call(&self, prepared: &PreparedRequest) -> Call {
        let _in_flight = self.context.metrics.call_in_flight();
        let call = self.setup.client.call(&prepared.request, &self.context.shutdown.now).await;
        if let Some(warning) = &call.warning {
            self.context.events.emit(Event::Warning(warning.clone())).await;
        }
        call
    }

    /// Reports the limits in the call's headers and its bill to admission.
    async fn learn(
        &self,
        call: &Call,
        next: &NextStep,
        counting: TokenCounting,
    ) -> Result<(), Interruption> {
        let mut observation = Observation { counting, ..call.observation(&self.setup.endpoint) };
        match next {
            NextStep::Cooldown(pause) => observation.refused = Some(*pause),
            // The remedy is fewer concurrent calls, not a cooldown.
            NextStep::AwaitPermit => observation.refused = None,
            _ => {}
        }
        Ok(self.context.admission.observe(&observation).await?)
    }
}

impl EndedLease {
    /// Bills a call that was sent in a lane, and emits the warnings about its bill.
    pub(crate) async fn new(
        (lease, end): (LeaseId, LeaseEnd),
        (call_end, sent_in): (&CallEnd, Lane),
        bounds: &Bounds,
        setup: &JudgeSetup,
        events: &Events,
    ) -> Self {
        let bill = setup.pricing.bill(call_end, sent_in, end, bounds);
        if let Some(bill) = &bill {
            for warning in setup.pricing.warnings(call_end, bill) {
                events.emit(Event::Warning(warning)).await;
            }
        }
        Self { lease, end, bill }
    }

    /// Cost of the call, billed or presumed.
    pub(crate) fn cost(&self, bounds: &Bounds) -> CallCost {
        match (self.end, self.bill) {
            (LeaseEnd::PresumeSpent, _) => CallCost::Presumed(bounds.worst_cost),
            (_, Some(CallBill { cost, usage, .. })) => CallCost::Billed(usage, cost),
            (_, None) => CallCost::Nothing,
        }
    }

    /// Ends the lease and the job whose last call it was, together.
    pub(crate) async fn record_with_job(
        self,
        admission: &dyn Admission,
        finished: FinishedJob,
    ) -> Result<Judged, Interruption> {
        let claim = finished.claim.clone();
        if self.bill.is_none() {
            self.record(admission, &claim, None).await?;
            return Ok(Judged::Unstored(Box::new(finished)));
        }
        let result = finished.result.clone();
        match self.record(admission, &claim, Some(finished)).await? {
            true => Ok(Judged::Stored(Box::new(result))),
            false => Err(Interruption::ClaimLost),
        }
    }

    /// Ends the lease, together with its job if that is finished; returns whether a result that was
    /// stored with it may be published.
    pub(crate) async fn record(
        self,
        admission: &dyn Admission,
        claim: &ClaimKey,
        finished: Option<FinishedJob>,
    ) -> Result<bool, Interruption> {
        match (self.end, self.bill) {
            (LeaseEnd::PresumeSpent, _) => admission.presume_spent(&self.lease).await?,
            (_, None) => admission.release(&self.lease).await?,
            (_, Some(CallBill { cost, usage, metered, .. })) => {
                let (lease, claim) = (self.lease, claim.clone());
                let settlement = Settlement { lease, cost, usage, metered, finished, claim };
                return Ok(admission.settle(settlement).await?.may_publish);
            }
        }
        Ok(true)
    }
}

/// The reply for the cache; `None` if another model gave it.
pub(crate) fn reply_for_cache(
    cache_key: Digest,
    judge: &Judge,
    setup: &JudgeSetup,
    end: &CallEnd,
    bill: Option<CallBill>,
) -> Option<(Digest, CachedReply)> {
    let answer = end.answer()?;
    if setup.pricing.other_model(end).is_some() {
        return None;
    }
    let CallBill { cost, usage, .. } = bill?;
    let judge = judge_record(judge, &setup.base_url, answer, None);
    Some((cache_key, CachedReply { reply: answer.content.clone()?, judge, usage, cost }))
}
