//! Asking the judge: admit, call, settle, and decide the next step. No other module calls.

pub(crate) mod call_admission;

use crate::{
    call_cost::CallBill,
    context::{Context, JudgeSetup},
    cost_bounds::Bounds,
    interruption::Interruption,
    judging::call_admission::{NotPermitted, Permission},
    parse_reply,
    question::PreparedQuestion,
    result_builder::{RecordedAnswer, ResultBuilder, judge_record},
    retry::{self, AttemptTally, LeaseEnd, NextStep, Step},
    telemetry,
    vision::{Call, CallEnd},
};
use juror_ledger::{
    admission::{Admission, Observation, Settlement, TokenCounting},
    job_store::{CachedReply, ClaimKey, FinishedJob},
};
use juror_telemetry::CallCost;
use juror_types::{
    event::Event,
    id::{Digest, LeaseId},
    job::{Job, Judge},
    outcome::{JobError, JobResult},
    rubric::Rubric,
    verdict::Verdict,
};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

/// End of a job's judging.
pub enum Judged {
    /// The result was stored together with the settlement of its last call.
    Stored(Box<JobResult>),
    /// The result is not stored yet: no call of it is to be settled.
    Unstored(Box<FinishedJob>),
}

/// Inputs of one job's calls.
pub struct Judging<'job> {
    /// The job.
    pub job: &'job Job,
    /// Its judge.
    pub judge: &'job Judge,
    /// This worker's access to it.
    pub setup: &'job JudgeSetup,
    /// Context that it is judged with.
    pub context: &'job Context,
    /// Time by which its delivery must be requeued.
    pub deadline: Option<Instant>,
    /// Outages of the ledger before the job was claimed.
    pub outages: u64,
}

/// A verdict that contradicts itself, kept while the judge is asked once more. It stands if the
/// second answer is not usable.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FirstVerdict {
    pub(crate) verdict: Verdict,
    pub(crate) answer: RecordedAnswer,
    pub(crate) remember: Option<(Digest, CachedReply)>,
}

impl FirstVerdict {
    /// Ends a job with this verdict.
    pub(crate) fn score(self, mut record: ResultBuilder) -> FinishedJob {
        record.restore_answer(self.answer);
        FinishedJob { remember: self.remember, ..record.scored(self.verdict) }
    }
}

impl Judging<'_> {
    /// Asks until there is a verdict, or until further calls are no use.
    pub async fn judge(
        &self,
        mut asked: PreparedQuestion,
        mut record: ResultBuilder,
    ) -> Result<Judged, Interruption> {
        // Calls settled by earlier holders count as unusable answers.
        let larger_output =
            self.setup.terms.larger_output_limit(asked.bounds.max_output_tokens).is_some();
        let mut tally =
            AttemptTally { answers: record.attempts(), larger_output, ..AttemptTally::default() };
        let mut first: Option<FirstVerdict> = None;
        loop {
            let Permission { permit, lease, waited } = match self.permission(&asked).await {
                Ok(permission) => permission,
                Err(NotPermitted::Interrupted(interruption)) => return Err(interruption),
                Err(NotPermitted::Skipped((kind, reason))) => {
                    let ended = match first {
                        Some(first) => first.score(record),
                        None => record.skipped(kind, reason),
                    };
                    return Ok(Judged::Unstored(Box::new(ended)));
                }
            };
            asked.request.slower = tally.slower();
            let call = self.call(&asked).await;
            let (verdict, problem) = verdict_in(&call.end, &self.context.rubric);
            let contradiction =
                retry::contradiction(&self.context.rubric, verdict.as_ref(), &tally);
            let asks_once_more = contradiction.is_some();
            let problem = problem.or(contradiction);
            let Step { money, next } =
                retry::decide(&call.end, problem.as_deref(), &mut tally, retry::full_jitter);
            let next = refuse_other_model(self.setup, &self.judge.model, &call.end, next);
            let next = self.apply_refusals(&permit, &call, next).await;
            let bill = bill(self.context, self.setup, &call.end, money, &asked.bounds).await;
            // Must precede `learn_count`, which uses the learned input ratio.
            let input_scale = self.learn_scale(&asked, &call.end, money);
            let counting = self.learn_count(&asked, &call, waited);
            // Keeps the permit during a cooldown or pause, when another call would be refused too.
            let _held =
                matches!(next, NextStep::Cooldown(_) | NextStep::PauseRun(_)).then_some(permit);
            self.learn(&call, &next, TokenCounting { input_scale, ..counting }).await?;

            let cost = cost(money, bill, &asked.bounds);
            telemetry::call_ended(&call, verdict.is_some(), cost, &self.judge.model, self.context);
            let other = self.setup.pricing.other_model(&call.end);
            record.called(self.judge, &call.end, bill.as_ref(), &asked.bounds, other);
            if let (true, Some(verdict)) = (asks_once_more, verdict.clone()) {
                let remember = reply_for_cache(asked.key, self.judge, self.setup, &call.end, bill);
                first = Some(FirstVerdict { verdict, answer: record.recorded_answer(), remember });
            } else if next.rejects_reply()
                && let Some(first) = first.take()
            {
                return self.end(&lease, money, bill, first.score(record)).await;
            }
            let finished = match (next, verdict) {
                (NextStep::Accept, Some(verdict)) => {
                    let remember =
                        reply_for_cache(asked.key, self.judge, self.setup, &call.end, bill);
                    FinishedJob { remember, ..record.scored(verdict) }
                }
                (NextStep::Unscorable(message), _) => record.unscorable(message),
                (NextStep::Fail(kind, message), _) => record.failed(JobError { kind, message }),
                (next, _) => {
                    let admission = &*self.context.admission;
                    end_lease(admission, &lease, money, bill, None, &record.claim).await?;
                    if next == NextStep::RetryLonger {
                        asked.raise_output_limit(&self.setup.terms);
                    }
                    self.wait_for_retry(next).await?;
                    continue;
                }
            };
            return self.end(&lease, money, bill, finished).await;
        }
    }

    async fn call(&self, asked: &PreparedQuestion) -> Call {
        let _in_flight = self.context.metrics.call_in_flight();
        let call = self.setup.client.call(&asked.request, &self.context.shutdown.now).await;
        if let Some(warning) = &call.warning {
            self.context.events.emit(Event::Warning(warning.clone())).await;
        }
        call
    }

    /// Reports to admission what the call's headers and bill showed.
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

    /// Learns the provider's count of input tokens; returns the ratio if other processes should
    /// know it.
    fn learn_scale(&self, asked: &PreparedQuestion, end: &CallEnd, money: LeaseEnd) -> Option<u64> {
        let LeaseEnd::Settle(Some(usage)) = money else { return None };
        let is_own = self.setup.pricing.other_model(end).is_none();
        is_own.then(|| self.setup.token_scale.learn(&asked.bounds, usage.input_tokens))?
    }

    /// Ends a job and the lease of its last call together.
    async fn end(
        &self,
        lease: &LeaseId,
        money: LeaseEnd,
        bill: Option<CallBill>,
        finished: FinishedJob,
    ) -> Result<Judged, Interruption> {
        let admission = &*self.context.admission;
        let claim = finished.claim.clone();
        if bill.is_none() {
            end_lease(admission, lease, money, None, None, &claim).await?;
            return Ok(Judged::Unstored(Box::new(finished)));
        }
        let result = finished.result.clone();
        match end_lease(admission, lease, money, bill, Some(finished), &claim).await? {
            true => Ok(Judged::Stored(Box::new(result))),
            false => Err(Interruption::ClaimLost),
        }
    }
}

/// The bill of a call; emits its warnings.
pub(crate) async fn bill(
    context: &Context,
    setup: &JudgeSetup,
    end: &CallEnd,
    money: LeaseEnd,
    bounds: &Bounds,
) -> Option<CallBill> {
    let bill = setup.pricing.bill(end, money, bounds)?;
    for warning in setup.pricing.warnings(end, &bill) {
        context.events.emit(Event::Warning(warning)).await;
    }
    Some(bill)
}

/// Ends the lease of a call, together with its job if that is finished; returns whether a result
/// that was stored with it may be published.
pub(crate) async fn end_lease(
    admission: &dyn Admission,
    lease: &LeaseId,
    money: LeaseEnd,
    bill: Option<CallBill>,
    finished: Option<FinishedJob>,
    claim: &ClaimKey,
) -> Result<bool, Interruption> {
    match (money, bill) {
        (LeaseEnd::PresumeSpent, _) => admission.presume_spent(lease).await?,
        (_, None) => admission.release(lease).await?,
        (_, Some(CallBill { cost, usage, metered, .. })) => {
            let (lease, claim) = (lease.clone(), claim.clone());
            let settlement = Settlement { lease, cost, usage, metered, finished, claim };
            return Ok(admission.settle(settlement).await?.may_publish);
        }
    }
    Ok(true)
}

/// The verdict of an answer, or the reason why it has none.
pub(crate) fn verdict_in(end: &CallEnd, rubric: &Rubric) -> (Option<Verdict>, Option<String>) {
    let CallEnd::Answered(answer) = end else { return (None, None) };
    match parse_reply::reply_text(answer) {
        Err(problem) => (None, Some(problem)),
        Ok(content) => match parse_reply::read(rubric, content) {
            Ok(verdict) => (Some(verdict), None),
            Err(error) => (None, Some(error.to_string())),
        },
    }
}

/// Pauses the run if another model answered and the settings refuse that.
pub(crate) fn refuse_other_model(
    setup: &JudgeSetup,
    asked: &str,
    end: &CallEnd,
    next: NextStep,
) -> NextStep {
    match setup.pricing.other_model(end).filter(|_| setup.refuse_other_model) {
        Some(model) => NextStep::PauseRun(format!(
            "model {model} replies in place of {asked}, and judge.other_model is \
             \"refuse\"; disable the gateway's fallback, or set it to \"warn\""
        )),
        None => next,
    }
}

/// The reply for the cache; none if another model gave it.
pub(crate) fn reply_for_cache(
    question: Digest,
    judge: &Judge,
    setup: &JudgeSetup,
    end: &CallEnd,
    bill: Option<CallBill>,
) -> Option<(Digest, CachedReply)> {
    let CallEnd::Answered(answer) = end else { return None };
    if setup.pricing.other_model(end).is_some() {
        return None;
    }
    let CallBill { cost, usage, .. } = bill?;
    let judge = judge_record(judge, &setup.base_url, answer, None);
    Some((question, CachedReply { reply: answer.content.clone()?, judge, usage, cost }))
}

/// Cost of a call, billed or presumed.
pub(crate) fn cost(money: LeaseEnd, bill: Option<CallBill>, bounds: &Bounds) -> CallCost {
    match (money, bill) {
        (LeaseEnd::PresumeSpent, _) => CallCost::Presumed(bounds.worst_cost),
        (_, Some(CallBill { cost, usage, .. })) => CallCost::Billed(usage, cost),
        (_, None) => CallCost::Nothing,
    }
}
