//! One job's life, from claim to result.

use crate::{
    context::Context,
    interruption::Interruption,
    judging::{Judged, Judging, permission::past_deadline},
    load::{self, LoadedItem},
    measuring::{self, ItemEvidence},
    parse_reply as reply,
    question::{PreparedQuestion, Question},
    result_builder::{ResultBuilder, UsedText},
    similarity::code_signature,
    source_image::SourceImage,
    stages::{self, command::run_pipeline},
    telemetry,
};
use bytes::Bytes;
use juror_files::kept_inputs::KeptInputError;
use juror_ledger::store::{Claim, ClaimKey, FinishedJob};
use juror_types::{
    id::Digest,
    item::{Item, Text},
    job::Job,
    outcome::{ErrorKind, InputRecord, JobError, JobResult},
    reference::shown,
    rubric::Need,
    stage::Stages,
};
use std::{collections::BTreeMap, sync::Arc};
use tokio::time::Instant;

/// A job that was started this often and never ended may have killed its workers: from now on it
/// is prepared alone.
const STARTS_OF_A_SUSPECT: u32 = 2;
/// A job that was started this often alone and never ended has killed its workers. Starts beside
/// others prove nothing: whatever ends a process ends every job that it has in hand.
const LONE_STARTS_OF_A_POISONOUS_JOB: u32 = 3;

/// So often a job is put back for others whose file is not to be had here.
const WORKERS_THAT_LOOK_FOR_A_FILE: u32 = 3;

/// Judges one job. Whatever goes wrong with the job itself is an outcome; an [`Interruption`] is
/// about the worker or the run.
pub async fn evaluate(job: &Job, context: &Arc<Context>) -> Result<JobResult, Interruption> {
    let claimed = match Claimed::of(job, context).await? {
        Ok(claimed) => claimed,
        Err(result) => return Ok(*result),
    };
    let claim = claimed.record.claim.clone();
    let evaluated = claimed.finish().await;
    note_end(evaluated.as_ref(), &claim, context).await?;
    evaluated
}

/// A job that has come as far as it gets without a call.
pub(crate) enum Unasked {
    /// It has its result.
    Finished(Box<JobResult>),
    /// Its judge is to be asked. Its claim is given back.
    ToAsk(Box<PreparedQuestion>, Box<ResultBuilder>),
}

/// Takes a job as far as it gets without a call.
pub(crate) async fn prepare_unasked(
    job: &Job,
    context: &Arc<Context>,
) -> Result<Unasked, Interruption> {
    let claimed = match Claimed::of(job, context).await? {
        Ok(claimed) => claimed,
        Err(result) => return Ok(Unasked::Finished(result)),
    };
    let claim = claimed.record.claim.clone();
    let ended = match claimed.prepare().await {
        Ok(Prepared::ToAsk(_, asked, record)) => {
            context.store.requeue(&claim).await?;
            return Ok(Unasked::ToAsk(asked, Box::new(record)));
        }
        Ok(Prepared::Finished(finished)) => store(finished, context).await,
        Err(interruption) => Err(interruption),
    };
    note_end(ended.as_ref(), &claim, context).await?;
    ended.map(|result| Unasked::Finished(Box::new(result)))
}

/// A job under a claim.
struct Claimed<'job> {
    work: Work<'job>,
    record: ResultBuilder,
    /// Starts of it before that never ended, and those of them that were alone.
    starts: u32,
    alone: u32,
}

impl<'job> Claimed<'job> {
    /// Claims a job; the inner error is the result that it has already.
    async fn of(
        job: &'job Job,
        context: &'job Arc<Context>,
    ) -> Result<Result<Self, Box<JobResult>>, Interruption> {
        let deadline = context.max_wait.map(|max_wait| Instant::now() + max_wait);
        let unclaimed = unclaimed(job);
        let (fence, starts, alone, carried) =
            match context.store.claim(&unclaimed, &context.owner).await? {
                Claim::Done(result) => {
                    telemetry::job_was_finished(&context.metrics);
                    return Ok(Err(result));
                }
                Claim::Held => {
                    telemetry::job_put_back(&Interruption::ClaimedElsewhere);
                    return Err(Interruption::ClaimedElsewhere);
                }
                Claim::Granted { fence, unfinished_starts, alone, carried } => {
                    (fence, unfinished_starts, alone, carried)
                }
            };
        let outages = context.admission.outages();
        let claim = ClaimKey { fence, ..unclaimed };
        let record = ResultBuilder::begin(job, context, claim, carried);
        Ok(Ok(Self { work: Work { job, context, deadline, outages }, record, starts, alone }))
    }

    /// From the item's files to a question, or to a result without one.
    async fn prepare(self) -> Result<Prepared<'job>, Interruption> {
        if self.alone >= LONE_STARTS_OF_A_POISONOUS_JOB {
            return Ok(Prepared::Finished(self.record.failed(poisonous(self.starts))));
        }
        self.work.prepare_isolated(self.record, self.starts >= STARTS_OF_A_SUSPECT).await
    }

    /// From the item's files to a stored result.
    async fn finish(self) -> Result<JobResult, Interruption> {
        let context = self.work.context;
        match self.prepare().await? {
            Prepared::Finished(finished) => store(finished, context).await,
            Prepared::ToAsk(judging, asked, record) => match judging.judge(*asked, record).await? {
                Judged::Stored(result) => Ok(*result),
                Judged::Unstored(finished) => store(*finished, context).await,
            },
        }
    }
}

/// Notes how the work on a claimed job ended.
async fn note_end(
    ended: Result<&JobResult, &Interruption>,
    claim: &ClaimKey,
    context: &Context,
) -> Result<(), Interruption> {
    match ended {
        Ok(result) => note_result(result, context).await,
        Err(
            interruption @ (Interruption::Stopping
            | Interruption::Paused(_)
            | Interruption::UnknownRun(_)
            | Interruption::WaitTimeout
            | Interruption::LedgerOutage
            | Interruption::FileNotHere(_)),
        ) => {
            telemetry::job_put_back(interruption);
            // Put back in good order: this start says nothing against the job.
            context.store.requeue(claim).await?;
        }
        Err(_) => {}
    }
    Ok(())
}

/// Notes a result for the metrics, and for the rule that pauses runs whose calls come to nothing.
pub(crate) async fn note_result(result: &JobResult, context: &Context) {
    telemetry::job_finished(result, &context.metrics);
    if context.breaker.item_ended(result) {
        // Where the fleet's row is not known, this process's own counts.
        let row = context.store.count_unusable(&result.run_id).await;
        context.breaker.check(row.unwrap_or_default());
    }
    if context.breaker.is_open() {
        // No other job should be paid for in vain while the pause is noted.
        context.shutdown.drain.cancel();
    }
}

/// Stores a result and notes it.
pub(crate) async fn store_and_note(
    finished: FinishedJob,
    context: &Context,
) -> Result<JobResult, Interruption> {
    let result = store(finished, context).await?;
    note_result(&result, context).await;
    Ok(result)
}

/// A job's claim before it is granted.
pub fn unclaimed(job: &Job) -> ClaimKey {
    ClaimKey { run: job.run_id.clone(), job: job.job_id.clone(), round: job.round, fence: 0 }
}

/// The work on one job, under a claim.
struct Work<'job> {
    job: &'job Job,
    context: &'job Arc<Context>,
    /// By when its delivery must be put back.
    deadline: Option<Instant>,
    /// Outages of the ledger before the job was claimed.
    outages: u64,
}

/// State of a job before its judge is asked.
enum Prepared<'job> {
    Finished(FinishedJob),
    ToAsk(Judging<'job>, Box<PreparedQuestion>, ResultBuilder),
}

impl<'job> Work<'job> {
    /// Beside others, or alone if it must be: what a job can do to a worker it does here, in the
    /// user's commands, the parsers and the decoders. A call that is cut off tells nothing against
    /// it. A hard stop drops what is under way here, since it costs nothing.
    async fn prepare_isolated(
        &self,
        record: ResultBuilder,
        suspect: bool,
    ) -> Result<Prepared<'job>, Interruption> {
        let Context { isolation, store, shutdown, .. } = &**self.context;
        let now = &shutdown.now;
        let guard = shutdown.drain.run_until_cancelled(isolation.join(suspect)).await;
        let _guard = guard.ok_or(Interruption::Stopping)?;
        if !suspect {
            let prepared = now.run_until_cancelled(self.prepare(record)).await;
            return prepared.ok_or(Interruption::Stopping)?;
        }
        let claim = record.claim.clone();
        store.set_alone(&claim, true).await?;
        let prepared = now.run_until_cancelled(self.prepare(record)).await;
        store.set_alone(&claim, false).await?;
        prepared.ok_or(Interruption::Stopping)?
    }

    /// Ends a job whose files cannot be used, unless one of them may be had by other workers, who
    /// look for it first.
    async fn without_input(
        &self,
        record: ResultBuilder,
        mut error: JobError,
    ) -> Result<Prepared<'job>, Interruption> {
        let references = self.job.item.references().map(str::to_owned).collect();
        if let Some(absence) = self.context.sources.absence(references).await {
            match self.context.store.miss(&record.claim).await? {
                None => {}
                Some(others) if others < WORKERS_THAT_LOOK_FOR_A_FILE => {
                    return Err(Interruption::FileNotHere(absence.to_string()));
                }
                Some(others) => {
                    error.message += &format!(" (and {others} times before, no worker had it)");
                }
            }
        }
        Ok(Prepared::Finished(record.failed(error)))
    }

    /// Everything that is free.
    async fn prepare(&self, mut record: ResultBuilder) -> Result<Prepared<'job>, Interruption> {
        let Self { job, context, deadline, outages } = *self;
        let (loaded, texts, stages) = match prepare_stages(job, context).await {
            Ok(staged) => staged,
            Err(error) => return self.without_input(record, error).await,
        };
        record.texts(&texts, loaded.language);
        record.stages(stages);
        self.keep_texts(&loaded).await?;

        let evidence = match measuring::collect(job, &loaded, context).await {
            Ok(evidence) => evidence,
            Err(error) => return self.without_input(record, error).await,
        };
        if let Some(evidence) = &evidence {
            record.evidence(evidence);
            self.keep_renders(evidence).await?;
        }

        let Some((judge, setup)) = job.judge.as_ref().zip(context.judge.as_ref()) else {
            return Ok(Prepared::Finished(record.without_verdict()));
        };
        if context.rubric.needs(Need::GeneratedCode) && loaded.code.is_none() {
            let error = missing_output(&job.item, context.stages.pipeline_command.is_some());
            return Ok(Prepared::Finished(record.without_output(error)));
        }

        let question =
            match Question::of(job, judge, &loaded, evidence.as_ref(), setup, context).await {
                Ok(question) => question,
                Err(error) => return self.without_input(record, error).await,
            };
        record.images(question.inputs());
        record.code_note(question.code_note.clone());
        for (digest, bytes) in question.originals() {
            self.keep(digest, bytes).await?;
        }
        if setup.cache
            && let Some(cached) = context.store.cached(&question.key).await?
            && let Ok(verdict) = reply::read(&context.rubric, &cached.reply)
        {
            record.answered(cached.judge, Some(cached.reply));
            return Ok(Prepared::Finished(record.scored_from_cache(verdict)));
        }

        if context.deadline_passed() {
            let (kind, message) = past_deadline();
            return Ok(Prepared::Finished(record.skipped(kind, message)));
        }
        let asked = match question.prepare(judge, setup).await {
            Ok(asked) => asked,
            Err(error) => return Ok(Prepared::Finished(record.failed(error))),
        };
        record.images(asked.inputs.clone());
        let judging = Judging { job, judge, setup, context, deadline, outages };
        Ok(Prepared::ToAsk(judging, Box::new(asked), record))
    }

    async fn keep_texts(&self, loaded: &LoadedItem) -> Result<(), Interruption> {
        if self.context.kept_inputs.is_none() {
            return Ok(());
        }
        for text in load::texts(loaded).into_values() {
            self.keep(Digest::of(&text), text.into_owned().into()).await?;
        }
        Ok(())
    }

    /// Keeps pictures that no dataset holds, so that pages show what was judged, and those that the
    /// dataset holds where the run keeps its inputs.
    async fn keep_renders(&self, evidence: &ItemEvidence) -> Result<(), Interruption> {
        let renders = &self.context.evidence.renders;
        for SourceImage { record, bytes } in evidence.made() {
            let Some(digest) = record.digest else { continue };
            let kept = renders.keep(digest, bytes.clone()).await;
            kept.map_err(|error| self.cannot_keep(&error))?;
        }
        for SourceImage { record, bytes } in evidence.rendered.iter().chain([&evidence.screenshot])
        {
            if let Some(digest) = record.digest {
                self.keep(digest, bytes.clone()).await?;
            }
        }
        Ok(())
    }

    /// Keeps an input where the run does so, before any call: a result names no input that is lost,
    /// and a full disk pauses the run before it costs anything.
    async fn keep(&self, digest: Digest, bytes: Bytes) -> Result<(), Interruption> {
        let Some(kept) = &self.context.kept_inputs else { return Ok(()) };
        kept.keep(digest, bytes).await.map_err(|error| self.cannot_keep(&error))
    }

    fn cannot_keep(&self, error: &KeptInputError) -> Interruption {
        // No other job should meet the same error.
        self.context.shutdown.drain.cancel();
        Interruption::Paused(error.to_string())
    }
}

/// The texts that were used, by their names.
type UsedTexts = BTreeMap<&'static str, UsedText>;

/// The item's code and tokens, from its files or from the user's pipeline, their records, and what
/// the deterministic stages say of them.
async fn prepare_stages(
    job: &Job,
    context: &Context,
) -> Result<(LoadedItem, UsedTexts, Stages), JobError> {
    let mut loaded = load::load(&job.item, &context.sources).await?;
    let named = load::text_digests(&loaded);
    if let Some(pipeline) = &context.stages.pipeline_command {
        loaded = run_pipeline(&job.item, loaded, context.sources.roots(), pipeline).await?;
    }
    let code_signature = loaded.code.as_deref().and_then(code_signature);
    let used = load::text_digests(&loaded).into_iter().map(|(name, digest)| {
        let signature = code_signature.filter(|_| name == InputRecord::CODE);
        let is_made = named.get(name) != Some(&digest);
        (name, UsedText { digest, signature, is_made })
    });
    let texts = used.collect();
    let stages = stages::evaluate(&loaded, &context.stages).await?;
    Ok((loaded, texts, stages))
}

async fn store(finished: FinishedJob, context: &Context) -> Result<JobResult, Interruption> {
    let result = finished.result.clone();
    if context.store.finish(finished).await? { Ok(result) } else { Err(Interruption::ClaimLost) }
}

/// The error of an item whose code was not generated, by where the code should have come from.
fn missing_output(item: &Item, from_pipeline: bool) -> JobError {
    let place = match &item.generated_code {
        _ if from_pipeline => "pipeline_command returned none".to_owned(),
        Some(Text::Path(path)) => format!("{} is blank", shown(path)),
        Some(Text::Inline(_)) | None => "generated_code is missing or blank".to_owned(),
    };
    let message = format!(
        "the pipeline made no code for this item ({place}), so nothing was judged; \
         run.missing_output = \"excluded\" leaves such items out of averages"
    );
    JobError { kind: ErrorKind::Output, message }
}

fn poisonous(starts: u32) -> JobError {
    let message = format!(
        "started {starts} times, the last of them alone, and never ended: it seems to kill its worker; look at its files, \
         then judge it again with `juror dead-letters replay`, or with `juror retry` among all that its run has not scored"
    );
    JobError { kind: ErrorKind::Poison, message }
}
