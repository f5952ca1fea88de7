//! A result in the making: every way a job can end goes through here.

use crate::{
    billing::CallBill,
    context::Context,
    cost_bounds::Bounds,
    vision::{Answer, CallEnd},
};
use juror_ledger::store::{Carried, ClaimKey, FinishedJob};
use juror_types::{
    id::Digest,
    item::Language,
    job::{Job, Judge},
    outcome::{ErrorKind, Estimate, InputRecord, JobError, JobResult, JudgeRecord, Outcome},
    reference::shown,
    rubric::zero,
    signature::Signature,
    stage::Stages,
    verdict::Verdict,
};
use std::{collections::BTreeMap, sync::Arc};
use tokio::time::Instant;

/// A text that stages and judge are given.
pub struct UsedText {
    /// See [`InputRecord::digest`].
    pub digest: Digest,
    /// See [`InputRecord::signature`].
    pub signature: Option<Signature>,
    /// Whether the user's pipeline made it.
    pub is_made: bool,
}

/// What is known of a job so far.
pub struct ResultBuilder {
    /// The claim that it is worked on under.
    pub claim: ClaimKey,
    context: Arc<Context>,
    result: JobResult,
    stages_passed: Option<bool>,
    began: Instant,
}

impl ResultBuilder {
    /// Begins with what earlier holders of the job already spent on it.
    pub fn begin(job: &Job, context: &Arc<Context>, claim: ClaimKey, carried: Carried) -> Self {
        let mut result = JobResult::empty(job, Outcome::Scored);
        result.cost_usd = carried.cost;
        result.usage = carried.usage;
        result.attempts = carried.calls;
        result.unmetered_calls = carried.unmetered_calls;
        let context = Arc::clone(context);
        Self { claim, context, result, stages_passed: None, began: Instant::now() }
    }

    /// Calls so far: at first, those that earlier holders of the job settled.
    pub fn attempts(&self) -> u32 {
        self.result.attempts
    }

    /// Takes down what the deterministic stages found.
    pub fn stages(&mut self, stages: Stages) {
        self.stages_passed = stages.passed(&self.context.thresholds);
        self.result.token_extraction = stages.token_extraction;
        self.result.retrieval = stages.retrieval;
        self.result.generation = stages.generation;
    }

    /// Records which images are judged, with their digests.
    pub fn images(&mut self, mut images: Vec<InputRecord>) {
        let inputs = &mut self.result.item.inputs;
        images.extend(inputs.drain(..).filter(|input| !input.is_image()));
        *inputs = images;
    }

    /// Records the texts that stages and judge are given, and the language of the code.
    pub fn texts(&mut self, texts: &BTreeMap<&'static str, UsedText>, language: Option<Language>) {
        self.result.item.language = language;
        let inputs = &mut self.result.item.inputs;
        for (name, text) in texts {
            let known = inputs.iter().position(|input| input.name == *name);
            let mut input = match known {
                Some(place) => inputs.remove(place),
                None => InputRecord::unread(name, InputRecord::PIPELINE),
            };
            input.digest = Some(text.digest);
            input.signature = text.signature;
            if text.is_made {
                input.reference = InputRecord::PIPELINE.to_owned();
            }
            inputs.insert(known.unwrap_or(inputs.len()), input);
        }
    }

    /// Records how the judged code differs from the item's own.
    pub fn code_note(&mut self, note: Option<String>) {
        let mut inputs = self.result.item.inputs.iter_mut();
        if let Some(code) = inputs.find(|input| input.name == InputRecord::CODE) {
            code.note = note;
        }
    }

    /// Takes down a call: that it was made, what it cost, and what was answered. A refusal by rate
    /// says nothing of the job and burns no attempt.
    pub fn called(
        &mut self,
        judge: &Judge,
        end: &CallEnd,
        bill: Option<&CallBill>,
        bounds: &Bounds,
        answered_by: Option<&str>,
    ) {
        self.result.attempts += u32::from(!matches!(end, CallEnd::RateLimited { .. }));
        self.result.estimate.get_or_insert(Estimate {
            expected_usd: bounds.expected_cost,
            worst_case_usd: bounds.worst_cost,
            worst_job_usd: Some(bounds.worst_job_cost),
        });
        if let Some(bill) = bill {
            self.billed(bill);
        }
        if let CallEnd::Answered(answer) = end {
            let base_url = self.context.judge.as_ref().map_or("", |setup| &setup.base_url);
            self.result.lane = answer.lane;
            let record = judge_record(judge, base_url, answer, answered_by);
            self.answered(record, answer.content.clone());
        }
    }

    fn billed(&mut self, bill: &CallBill) {
        let before = self.result.table_cost_usd.unwrap_or(self.result.cost_usd);
        if bill.table_cost.is_some() || self.result.table_cost_usd.is_some() {
            self.result.table_cost_usd = Some(before + bill.table_cost.unwrap_or(bill.cost));
        }
        self.result.unmetered_calls += u32::from(!bill.metered);
        self.result.cost_usd += bill.cost;
        self.result.usage += bill.usage;
    }

    /// Takes down who answered what, verbatim.
    pub fn answered(&mut self, judge: JudgeRecord, reply: Option<String>) {
        self.result.judge = Some(judge);
        self.result.reply = reply;
    }

    /// Ends with every stage done that has data; the judge was off.
    pub fn without_verdict(mut self) -> FinishedJob {
        self.result.pipeline_success = self.stages_passed;
        self.finish(Outcome::Scored, None)
    }

    /// Ends without a call, since the pipeline made nothing to judge: zero scores.
    pub fn without_output(self, error: JobError) -> FinishedJob {
        self.unjudged(Outcome::NoOutput, error)
    }

    /// Ends with a verdict.
    pub fn scored(mut self, verdict: Verdict) -> FinishedJob {
        let passed = self.context.success.passes(verdict.correctness());
        self.result.pipeline_success = Some(passed && self.stages_passed.unwrap_or(true));
        self.result.semantic = Some(verdict);
        self.finish(Outcome::Scored, None)
    }

    /// Ends with a verdict that was given before.
    pub fn scored_from_cache(mut self, verdict: Verdict) -> FinishedJob {
        self.result.cached = true;
        self.scored(verdict)
    }

    /// Ends with answers that could not be used.
    pub fn unscorable(mut self, message: String) -> FinishedJob {
        self.result.pipeline_success = Some(false);
        self.finish(Outcome::Unscorable, Some(JobError { kind: ErrorKind::Reply, message }))
    }

    /// Ends without an answer: zero scores where the judge is on.
    pub fn failed(self, error: JobError) -> FinishedJob {
        self.unjudged(Outcome::Failed, error)
    }

    /// Ends untried.
    pub fn skipped(self, kind: ErrorKind, message: String) -> FinishedJob {
        self.finish(Outcome::Skipped, Some(JobError { kind, message }))
    }

    fn unjudged(mut self, outcome: Outcome, error: JobError) -> FinishedJob {
        self.result.pipeline_success = Some(false);
        if self.context.judge.is_some() {
            self.result.semantic = Some(zero(&self.context.rubric, &error.message));
        }
        self.finish(outcome, Some(error))
    }

    fn finish(mut self, outcome: Outcome, error: Option<JobError>) -> FinishedJob {
        self.result.outcome = outcome;
        self.result.error = error;
        self.result.total_latency_ms =
            u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        FinishedJob { claim: self.claim, result: self.result, remember: None }
    }
}

/// The record of the judge that gave this answer at this base URL; `answered_by` is the model, where
/// it is another one than was asked for.
pub fn judge_record(
    judge: &Judge,
    base_url: &str,
    answer: &Answer,
    answered_by: Option<&str>,
) -> JudgeRecord {
    JudgeRecord {
        provider: judge.provider,
        model: judge.model.clone(),
        fingerprint: answer.fingerprint.clone(),
        answered_by: answered_by.map(str::to_owned),
        base_url: Some(shown(base_url).into_owned()),
        simulated: answer.simulated,
    }
}
