//! Every step of a job that costs nothing: its files, the deterministic stages, the measured
//! evidence, and the request to its judge.

mod keep;

use crate::{
    claim_job::ClaimedJob,
    code_signature::code_signature,
    evidence_stage::{self, ItemEvidence, MeasuringError},
    file_check::inspect_images,
    interruption::Interruption,
    item_texts::{self, LoadedItem},
    judge_request::{JudgeRequest, PreparedRequest},
    judging::Judging,
    parse_reply,
    result_builder::{ResultBuilder, UsedText},
    run_context::{JudgeSetup, RunContext},
    run_deadline::skip_after_deadline,
    stages::{self, command::run_pipeline},
};
use juror_ledger::job_store::{CachedReply, FinishedJob};
use juror_types::{
    job::Job,
    outcome::{ErrorKind, InputRecord, JobError},
    rubric::PromptField,
    stage::Stages,
    verdict::Verdict,
};
use std::collections::BTreeMap;

/// Number of workers that look for a missing file before its job fails.
const MAX_MISSING_FILE_ATTEMPTS: u32 = 3;

/// Job before its call to the judge.
pub enum PreparedJob<'job> {
    /// The job needs no call.
    Finished(FinishedJob),
    /// The job needs a call to its judge.
    NeedsCall(Judging<'job>, Box<PreparedRequest>, ResultBuilder),
}

/// Prepares a job alongside others, or alone if it is suspect: a job can kill its worker only here,
/// in the user's commands, the parsers and the decoders, and not in a call. A hard stop drops work
/// in progress here, since it costs nothing.
pub async fn prepare(claimed: ClaimedJob<'_>) -> Result<PreparedJob<'_>, Interruption> {
    if let Some(error) = claimed.unfinished_starts.poison() {
        return Ok(PreparedJob::Finished(claimed.builder.failed(error)));
    }
    let (is_suspect, key) = (claimed.unfinished_starts.is_suspect(), claimed.builder.claim.clone());
    let RunContext { isolation, store, shutdown, .. } = &**claimed.context;
    let guard = shutdown.drain.run_until_cancelled(isolation.join(is_suspect)).await;
    let _guard = guard.ok_or(Interruption::Stopping)?;
    if is_suspect {
        store.set_isolated(&key, true).await?;
    }
    let prepared = shutdown.now.run_until_cancelled(prepare_here(claimed)).await;
    if is_suspect {
        store.set_isolated(&key, false).await?;
    }
    prepared.ok_or(Interruption::Stopping)?
}

/// The used texts, by their names.
type UsedTexts = BTreeMap<&'static str, UsedText>;

/// Every step that costs nothing.
async fn prepare_here(claimed: ClaimedJob<'_>) -> Result<PreparedJob<'_>, Interruption> {
    let ClaimedJob { job, context, mut builder, requeue_by, outages, .. } = claimed;
    let (loaded, texts, stages) = match prepare_stages(job, context).await {
        Ok(staged) => staged,
        Err(error) => return fail_or_requeue(job, context, builder, error).await,
    };
    builder.texts(&texts, loaded.language);
    builder.stages(stages);
    keep::texts(&loaded, context).await?;

    let evidence = match evidence_stage::collect(job, &loaded, context).await {
        Ok(evidence) => evidence,
        // Another worker of the fleet may have a browser that works.
        Err(MeasuringError::Unmeasured(_)) if context.leaves_rendering_to_others(job) => {
            return Err(Interruption::RenderingUnsupported);
        }
        Err(MeasuringError::Unmeasured(reason)) => {
            builder.unmeasured(reason);
            None
        }
        Err(MeasuringError::Input(error)) => {
            return fail_or_requeue(job, context, builder, error).await;
        }
    };
    if let Some(evidence) = &evidence {
        builder.evidence(evidence);
        keep::renders(evidence, context).await?;
    }

    let Some((judge, setup)) = job.judge.as_ref().zip(context.judge.as_ref()) else {
        // With a judge, the images are read for the request; without one they are checked here.
        return match inspect_images(&job.item, &context.sources).await {
            Ok(()) => Ok(PreparedJob::Finished(builder.without_verdict())),
            Err(error) => fail_or_requeue(job, context, builder, error).await,
        };
    };
    if context.rubric.needs(PromptField::GeneratedCode) && loaded.code.is_none() {
        let error = missing_output(&loaded, context.stages.pipeline_command.is_some());
        return Ok(PreparedJob::Finished(builder.without_output(error)));
    }
    let judging = Judging { job, judge, setup, context, requeue_by, outages };
    prepare_call(judging, &loaded, evidence.as_ref(), builder).await
}

/// The request to the judge, unless the cache has its reply.
async fn prepare_call<'job>(
    judging: Judging<'job>,
    loaded: &LoadedItem,
    evidence: Option<&ItemEvidence>,
    mut builder: ResultBuilder,
) -> Result<PreparedJob<'job>, Interruption> {
    let Judging { job, judge, setup, context, .. } = judging;
    let request = match JudgeRequest::for_job(job, judge, loaded, evidence, setup, context).await {
        Ok(request) => request,
        Err(error) => return fail_or_requeue(job, context, builder, error).await,
    };
    builder.images(request.inputs());
    builder.code_note(request.code_note.clone());
    for (digest, bytes) in request.originals() {
        keep::input(digest, bytes, context).await?;
    }
    if let Some((cached, verdict)) = cached_verdict(&request, setup, context).await? {
        builder.record_reply(cached.judge, Some(cached.reply));
        return Ok(PreparedJob::Finished(builder.scored_from_cache(verdict)));
    }
    if context.run_deadline.has_passed() {
        return Ok(PreparedJob::Finished(builder.skipped(skip_after_deadline())));
    }
    let prepared = match request.prepare(judge, setup).await {
        Ok(prepared) => prepared,
        Err(error) => return Ok(PreparedJob::Finished(builder.failed(error))),
    };
    builder.images(prepared.inputs.clone());
    if let Some(error) = setup.terms.context_error(&prepared.bounds) {
        return Ok(PreparedJob::Finished(builder.failed(error)));
    }
    Ok(PreparedJob::NeedsCall(judging, Box::new(prepared), builder))
}

/// The item's code and tokens, from its files or from the user's pipeline, their records, and the
/// results of the deterministic stages.
async fn prepare_stages(
    job: &Job,
    context: &RunContext,
) -> Result<(LoadedItem, UsedTexts, Stages), JobError> {
    let mut loaded = item_texts::load(&job.item, &context.sources).await?;
    let named = item_texts::text_digests(&loaded);
    if let Some(pipeline) = &context.stages.pipeline_command {
        loaded = run_pipeline(&job.item, loaded, context.sources.roots(), pipeline).await?;
    }
    let code_signature = loaded.code.as_deref().and_then(code_signature);
    let used = item_texts::text_digests(&loaded).into_iter().map(|(name, digest)| {
        let signature = code_signature.filter(|_| name == InputRecord::CODE);
        let is_made = named.get(name) != Some(&digest);
        (name, UsedText { digest, signature, is_made })
    });
    let texts = used.collect();
    let stages = stages::evaluate(&loaded, &context.stages).await?;
    Ok((loaded, texts, stages))
}

/// An earlier reply to the same request and its verdict, if replies are cached.
async fn cached_verdict(
    request: &JudgeRequest,
    setup: &JudgeSetup,
    context: &RunContext,
) -> Result<Option<(CachedReply, Verdict)>, Interruption> {
    if !setup.cache {
        return Ok(None);
    }
    let cached = context.store.cached_reply(&request.cache_key).await?;
    Ok(cached.and_then(|cached| {
        let verdict = parse_reply::read(&context.rubric, &cached.reply).ok()?;
        Some((cached, verdict))
    }))
}

/// Ends a job whose files cannot be used, unless other workers may have a missing file and have not
/// looked yet.
async fn fail_or_requeue<'job>(
    job: &Job,
    context: &RunContext,
    builder: ResultBuilder,
    mut error: JobError,
) -> Result<PreparedJob<'job>, Interruption> {
    let references = job.item.references().map(str::to_owned).collect();
    if let Some(absence) = context.sources.absence(references).await {
        match context.store.record_missing_file(&builder.claim).await? {
            None => {}
            Some(others) if others < MAX_MISSING_FILE_ATTEMPTS => {
                return Err(Interruption::FileNotHere(absence.to_string()));
            }
            Some(others) => {
                error.message += &format!(" (nor at {others} earlier attempts)");
            }
        }
    }
    Ok(PreparedJob::Finished(builder.failed(error)))
}

/// The error of an item without generated code that can be judged, depending on the code's source.
fn missing_output(loaded: &LoadedItem, from_pipeline: bool) -> JobError {
    let place = match (&loaded.unusable_code, from_pipeline) {
        (Some(reason), _) => reason.as_str(),
        (None, true) => "pipeline_command returned none",
        (None, false) => "generated_code is missing or blank",
    };
    let message = format!(
        "the pipeline made no usable code for this item ({place}), so nothing was judged; \
         run.missing_output = \"excluded\" leaves such items out of averages"
    );
    JobError { kind: ErrorKind::Output, message }
}
