//! One job's life, from claim to result.

use crate::{
    context::Context,
    judging::{Judged, Judging},
    load::{self, LoadedItem},
    question::Question,
    record::Record,
    reply,
    stages::{self, command::run_pipeline},
};
use juror_common::{
    admission::AdmissionError,
    job::Job,
    outcome::{ErrorKind, JobError, JobResult},
    rubric::Need,
    shutdown::Shutdown,
    stage::Stages,
    store::{Claim, ClaimKey, FinishedJob},
};
use std::sync::Arc;

/// A job that was started this often and never ended takes its workers with it.
const STARTS_OF_A_POISONOUS_JOB: u32 = 5;

/// Why a job has no result yet. It is given back, and nothing that was paid for is lost.
#[derive(Debug, thiserror::Error)]
pub enum Interruption {
    /// The worker is stopping.
    #[error("the worker is stopping")]
    Stopping,
    /// No call of this run can succeed until a person does something.
    #[error("{0}")]
    Paused(String),
    /// Another worker took the job over.
    #[error("another worker has taken the job over")]
    Overtaken,
    /// The ledger cannot be used, so nothing may be spent or published.
    #[error(transparent)]
    Ledger(#[from] AdmissionError),
}

/// Judges one job. Whatever goes wrong with the job itself is an outcome; an [`Interruption`] is
/// about the worker or the run.
pub async fn evaluate(
    job: &Job,
    context: &Arc<Context>,
    shutdown: &Shutdown,
) -> Result<JobResult, Interruption> {
    let unclaimed =
        ClaimKey { run: job.run_id.clone(), job: job.job_id.clone(), round: job.round, fence: 0 };
    let (fence, starts, carried) = match context.store.claim(&unclaimed, &context.owner).await? {
        Claim::Done(result) => return Ok(*result),
        Claim::Granted { fence, unfinished_starts, carried } => (fence, unfinished_starts, carried),
    };
    let claim = ClaimKey { fence, ..unclaimed };
    let record = Record::begin(job, context, claim.clone(), carried);
    if starts >= STARTS_OF_A_POISONOUS_JOB {
        return store(record.failed(poisonous(starts)), context).await;
    }
    let evaluated = work(job, record, context, shutdown).await;
    if let Err(Interruption::Stopping | Interruption::Paused(_)) = &evaluated {
        // Put back in good order: this start says nothing against the job.
        context.store.give_back(&claim).await?;
    }
    evaluated
}

/// From the item's files to a stored result.
async fn work(
    job: &Job,
    mut record: Record,
    context: &Arc<Context>,
    shutdown: &Shutdown,
) -> Result<JobResult, Interruption> {
    let (loaded, stages) = match unless_stopped(prepare_stages(job, context), shutdown).await? {
        Ok(staged) => staged,
        Err(error) => return store(record.failed(error), context).await,
    };
    record.stages(stages);

    let Some((judge, setup)) = job.judge.as_ref().zip(context.judge.as_ref()) else {
        return store(record.without_verdict(false), context).await;
    };
    if context.rubric.needs(Need::GeneratedCode) && loaded.code.is_none() {
        return store(record.without_verdict(true), context).await;
    }

    let question = Question::of(job, judge, &loaded, setup, context);
    let question = match unless_stopped(question, shutdown).await? {
        Ok(question) => question,
        Err(error) => return store(record.failed(error), context).await,
    };
    record.inputs(question.inputs());
    if setup.cache
        && let Some(cached) = context.store.cached(&question.key).await?
        && let Ok(verdict) = reply::read(&context.rubric, &cached.reply)
    {
        record.answered(cached.judge, Some(cached.reply));
        return store(record.scored_before(verdict), context).await;
    }

    let asked = match unless_stopped(question.prepare(judge, setup), shutdown).await? {
        Ok(asked) => asked,
        Err(error) => return store(record.failed(error), context).await,
    };
    record.inputs(asked.inputs.clone());
    let judging = Judging { job, judge, setup, context, shutdown };
    match judging.judge(asked, record).await? {
        Judged::Stored(result) => Ok(*result),
        Judged::Unstored(finished) => store(*finished, context).await,
    }
}

/// Drops work that costs nothing at a hard stop. Calls are not dropped but cancelled, so that their
/// leases end.
async fn unless_stopped<T>(
    work: impl Future<Output = T>,
    shutdown: &Shutdown,
) -> Result<T, Interruption> {
    tokio::select! {
        biased;
        () = shutdown.now.cancelled() => Err(Interruption::Stopping),
        done = work => Ok(done),
    }
}

/// The item's code and tokens, from its files or from the user's pipeline, and what the
/// deterministic stages say of them.
async fn prepare_stages(job: &Job, context: &Context) -> Result<(LoadedItem, Stages), JobError> {
    let mut loaded = load::load(&job.item, &context.roots).await?;
    if let Some(pipeline) = &context.stages.pipeline_command {
        loaded = run_pipeline(&job.item, loaded, &context.roots, pipeline).await?;
    }
    let stages = stages::evaluate(&loaded, &context.stages).await?;
    Ok((loaded, stages))
}

async fn store(finished: FinishedJob, context: &Context) -> Result<JobResult, Interruption> {
    let result = finished.result.clone();
    if context.store.finish(finished).await? { Ok(result) } else { Err(Interruption::Overtaken) }
}

fn poisonous(starts: u32) -> JobError {
    let message = format!(
        "started {starts} times and never ended: it seems to kill its worker; look at its files, \
         then judge it again with `juror retry`"
    );
    JobError { kind: ErrorKind::Poison, message }
}
