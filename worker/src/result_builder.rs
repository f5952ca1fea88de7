//! Construction of a job's result; `outcomes` ends it.

mod outcomes;

use crate::{
    call_bill::CallBill,
    cost_bounds::Bounds,
    evidence_stage::ItemEvidence,
    run_context::RunContext,
    source_image::SourceImage,
    vision::{CallEnd, Completion},
};
use jiff::Timestamp;
use juror_ledger::job_store::{ClaimKey, UnattributedCost};
use juror_types::{
    id::Digest,
    item::{Item, Language},
    job::{Job, Judge},
    lane::Lane,
    outcome::{BatchUsage, Estimate, InputRecord, JobResult, JudgeRecord, Outcome},
    reference::shown,
    similarity_signature::SimilaritySignature,
    stage::Stages,
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio::time::Instant;

/// A text for stages and judge.
pub struct UsedText {
    /// See [`InputRecord::digest`].
    pub digest: Digest,
    /// See [`InputRecord::signature`].
    pub signature: Option<SimilaritySignature>,
    /// True if the pipeline command made it during the run.
    pub is_made: bool,
}

/// Reply of a judge as recorded in a result.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RecordedAnswer {
    judge: Option<JudgeRecord>,
    reply: Option<String>,
    lane: Lane,
    #[serde(default)]
    estimate: Option<Estimate>,
}

/// A job's result under construction.
pub struct ResultBuilder {
    pub claim: ClaimKey,
    context: Arc<RunContext>,
    result: JobResult,
    stages_passed: Option<bool>,
    began: Instant,
    /// Time that the job took before, in another process or an earlier part of this one.
    before: Duration,
}

/// A result under construction, as stored while its job waits for a batch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BuilderSnapshot {
    result: JobResult,
    stages_passed: Option<bool>,
    /// Start of the job, in milliseconds since 1970.
    began_ms: i64,
}

impl ResultBuilder {
    /// A new result, with the cost and attempts of earlier holders of the job.
    pub fn begin(
        job: &Job,
        context: &Arc<RunContext>,
        claim: ClaimKey,
        unattributed_cost: UnattributedCost,
    ) -> Self {
        let mut result = JobResult::empty(job, Outcome::Scored);
        result.cost_usd = unattributed_cost.cost;
        result.usage = unattributed_cost.usage;
        result.attempts = unattributed_cost.calls;
        result.unmetered_calls = unattributed_cost.unmetered_calls;
        let context = Arc::clone(context);
        let (began, before) = (Instant::now(), Duration::ZERO);
        Self { claim, context, result, stages_passed: None, began, before }
    }

    /// The result so far, for storing.
    pub fn snapshot(&self) -> BuilderSnapshot {
        let took = i64::try_from((self.before + self.began.elapsed()).as_millis());
        let began_ms = Timestamp::now().as_millisecond() - took.unwrap_or_default();
        let (result, stages_passed) = (self.result.clone(), self.stages_passed);
        BuilderSnapshot { result, stages_passed, began_ms }
    }

    /// Restores a stored result, under the claim of the worker that finishes it.
    pub fn restore(snapshot: BuilderSnapshot, context: &Arc<RunContext>, claim: ClaimKey) -> Self {
        let BuilderSnapshot { result, stages_passed, began_ms } = snapshot;
        let before = Timestamp::now().as_millisecond() - began_ms;
        let before = Duration::from_millis(before.max(0).unsigned_abs());
        let (context, began) = (Arc::clone(context), Instant::now());
        Self { claim, context, result, stages_passed, began, before }
    }

    /// A stored result as it was before its job's last calls, with all calls that this one begins
    /// with.
    pub fn continue_stored(self, snapshot: BuilderSnapshot) -> Self {
        let JobResult { cost_usd, usage, attempts, unmetered_calls, .. } = self.result;
        let mut stored = Self::restore(snapshot, &self.context, self.claim);
        stored.result.cost_usd = cost_usd;
        stored.result.usage = usage;
        stored.result.attempts = attempts;
        stored.result.unmetered_calls = unmetered_calls;
        stored
    }

    /// Calls so far: at first, those that earlier holders of the job settled.
    pub fn attempts(&self) -> u32 {
        self.result.attempts
    }

    /// Records the results of the deterministic stages.
    pub fn stages(&mut self, stages: Stages) {
        self.stages_passed = stages.passed(self.context.token_accuracy);
        self.result.token_extraction = stages.token_extraction;
        self.result.retrieval = stages.retrieval;
        self.result.generation = stages.generation;
    }

    /// Records the measurements and the measured images.
    pub fn evidence(&mut self, evidence: &ItemEvidence) {
        if let Some(renders) = evidence.renders() {
            self.result.generation.get_or_insert_default().renders = Some(renders);
            self.stages_passed = Some(renders && self.stages_passed.unwrap_or(true));
        }
        self.result.evidence = Some(evidence.outcome.clone());
        let pictures = [&evidence.screenshot].into_iter().chain(&evidence.rendered);
        for SourceImage { record, .. } in pictures {
            let inputs = &mut self.result.item.inputs;
            let images = inputs.iter().filter(|input| input.is_image()).count();
            match inputs.iter_mut().find(|input| input.name == record.name) {
                Some(known) => known.clone_from(record),
                None => inputs.insert(images, record.clone()),
            }
        }
    }

    /// Records the reason why the item has no evidence.
    pub fn unmeasured(&mut self, reason: String) {
        self.result.unmeasured = Some(reason);
    }

    /// Records the judged images with their digests. A rendered image stays in the record, since it
    /// was measured even if the judge does not receive it.
    pub fn images(&mut self, mut images: Vec<InputRecord>) {
        let inputs = &mut self.result.item.inputs;
        let is_sent = images.iter().any(|image| image.name == Item::RENDERED);
        let stays = |input: &InputRecord| input.name == Item::RENDERED && !is_sent;
        images.extend(inputs.drain(..).filter(|input| !input.is_image() || stays(input)));
        *inputs = images;
    }

    /// Records the texts for stages and judge, and the language of the code.
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

    /// Records the difference of the judged code from the item's own.
    pub fn code_note(&mut self, note: Option<String>) {
        let mut inputs = self.result.item.inputs.iter_mut();
        if let Some(code) = inputs.find(|input| input.name == InputRecord::CODE) {
            code.note = note;
        }
    }

    /// Records a call, its cost and its reply. A rate-limit refusal is not caused by the job and
    /// counts no attempt.
    pub fn called(
        &mut self,
        judge: &Judge,
        end: &CallEnd,
        bill: Option<&CallBill>,
        bounds: &Bounds,
    ) {
        self.result.attempts += u32::from(!matches!(end, CallEnd::RateLimited { .. }));
        self.result.estimate.get_or_insert(Estimate {
            expected_usd: bounds.expected_cost,
            worst_case_usd: bounds.worst_cost,
            worst_job_usd: bounds.worst_job_cost,
        });
        if let Some(bill) = bill {
            self.billed(bill);
        }
        if let (Some(answer), Some(setup)) = (end.answer(), &self.context.judge) {
            self.result.lane = answer.lane;
            let answered_by = setup.pricing.other_model(end);
            let record = judge_record(judge, &setup.base_url, answer, answered_by);
            self.record_reply(record, answer.content.clone());
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

    /// Records the usage of the batch that answered, if its provider reports another than its rows.
    pub fn batch_usage(&mut self, batch_usage: Option<BatchUsage>) {
        self.result.batch_usage = batch_usage;
    }

    /// Records a judge and its reply, verbatim.
    pub fn record_reply(&mut self, judge: JudgeRecord, reply: Option<String>) {
        self.result.judge = Some(judge);
        self.result.reply = reply;
    }

    /// Last recorded reply.
    pub fn recorded_reply(&self) -> RecordedAnswer {
        let JobResult { judge, reply, lane, estimate, .. } = self.result.clone();
        RecordedAnswer { judge, reply, lane, estimate }
    }

    /// Restores an earlier reply in place of the last one.
    pub fn restore_reply(&mut self, answer: RecordedAnswer) {
        let RecordedAnswer { judge, reply, lane, estimate } = answer;
        (self.result.judge, self.result.reply, self.result.lane) = (judge, reply, lane);
        self.result.estimate = self.result.estimate.take().or(estimate);
    }
}

/// Record of the judge of this reply at this base URL; `answered_by` is the responding model, if it
/// is not the requested one.
pub fn judge_record(
    judge: &Judge,
    base_url: &str,
    answer: &Completion,
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
