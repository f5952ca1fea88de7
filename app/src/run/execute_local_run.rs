//! Wires the three roles of one process together, and runs them to their end.

use super::{
    jobs_to_publish::jobs_to_publish,
    local_context,
    local_worker::{LocalWorker, PauseReason},
    open_local_run::{OpenedRun, RoundResources},
    run_setup::RunSetup,
    sample_growth::{larger_sample, record_with_sample},
};
use crate::{
    batch_resources::{BatchResources, LOCAL_OWNER},
    budgets::alerts::{AlertWatch, RETRY_PAUSES},
    error::AppError,
    local_ledger::local_error,
};
use juror_aggregator::{
    aggregator_role::local_aggregator::{self, LocalRunResources},
    run_journal::RunJournal,
};
use juror_ledger::{
    admission::{Admission, RunAccount},
    batches::BatchRecords,
    sqlite::SqliteLedger,
};
use juror_producer::publish;
use juror_queue::{Queue as _, local::LocalQueue};
use juror_types::{
    event::{Event, Events},
    id::OwnerId,
    job::Job,
    outcome::JobResult,
    shutdown::Shutdown,
};
use juror_worker::{run_context::RunContext, run_deadline::RunDeadline};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Capacity of the queues in memory, for jobs and for results.
const QUEUE_CAPACITY: usize = 1_000;

/// Runs the roles until every job has its outcome or `shutdown` is given. With `--until-width`, once
/// for each size of the sample, until the score's interval is narrow enough. Returns the journal,
/// still locked, the account of the ledger, none with the judge off, and the reason of a pause.
pub async fn execute_local_run(
    opened: OpenedRun,
    setup: &RunSetup,
    backend: &Arc<SqliteLedger>,
    events: Events,
    shutdown: &Shutdown,
) -> Result<(RunJournal, Option<RunAccount>, PauseReason), AppError> {
    let OpenedRun { mut journal, judging_session, resources, zone_change, other_ledger, .. } =
        opened;
    for warning in zone_change.map(|change| change.to_string()).into_iter().chain(other_ledger) {
        events.emit(Event::Warning(warning)).await;
    }
    let mut enlarged_setup: Option<RunSetup> = None;
    let paused = loop {
        let current = enlarged_setup.as_ref().unwrap_or(setup);
        let paused;
        (journal, paused) =
            run_round(&resources, journal, events.clone(), current, backend, shutdown).await?;
        let is_stopped = shutdown.drain.is_cancelled() || paused.is_some();
        let next = if is_stopped { None } else { larger_sample(current, &journal)? };
        let Some(next) = next else { break paused };
        journal.update_record_file(&record_with_sample(journal.record(), &next))?;
        enlarged_setup = Some(next);
    };
    judging_session.end(&mut journal)?;
    let ledger = backend.ledger(&journal.record().run_id).await.map_err(local_error)?;
    Ok((journal, ledger, paused))
}

/// Runs the roles once, over the jobs that are not scored yet.
async fn run_round(
    resources: &RoundResources,
    journal: RunJournal,
    events: Events,
    setup: &RunSetup,
    backend: &Arc<SqliteLedger>,
    shutdown: &Shutdown,
) -> Result<(RunJournal, PauseReason), AppError> {
    let record = journal.record();
    let run = record.run_id.clone();
    let jobs: Arc<LocalQueue<Job>> = Arc::new(LocalQueue::new(QUEUE_CAPACITY));
    let results: Arc<LocalQueue<JobResult>> = Arc::new(LocalQueue::new(QUEUE_CAPACITY));
    let batches = BatchResources {
        records: Arc::clone(backend) as Arc<dyn BatchRecords>,
        owner: OwnerId::new(LOCAL_OWNER),
        folder: journal.files().directory().join("batches"),
    };
    let lane = batches.lane(&setup.settings, record, resources.judge.as_deref()).await;
    let context = Arc::new(RunContext {
        batches: lane.map_err(AppError::internal)?.map(Arc::new),
        events: events.clone(),
        owner: resources.owner.clone(),
        kept_inputs: resources.kept_inputs.clone(),
        shutdown: shutdown.child(),
        run_deadline: RunDeadline::in_record(record),
        ..local_context::for_run(
            setup,
            backend,
            resources.judge.clone(),
            Arc::clone(&resources.evidence),
        )?
    });
    let progress = Some(Arc::new(journal.fold().rounds()));
    let submission = jobs_to_publish(setup, &run, progress, jobs.clone(), events.clone())?;
    let subscription = results.subscribe(QUEUE_CAPACITY).await.map_err(AppError::internal)?;
    let metrics = Arc::clone(&context.metrics);
    let aggregator = LocalRunResources { results: subscription, journal, events, metrics };
    let watch = AlertWatch {
        records: backend.as_ref(),
        alerts: &setup.settings.budget.alerts,
        retry_pauses: &RETRY_PAUSES,
        events: aggregator.events.clone(),
    };
    let watched = Shutdown { drain: CancellationToken::new(), now: shutdown.now.clone() };
    let worker = LocalWorker::new(&run, context, &jobs, &results);
    let working = async {
        let worked = run_roles(submission, worker, aggregator, (&jobs, &results), shutdown).await;
        watched.drain.cancel();
        worked
    };
    let watching = watch.follow(&run, backend.changes(), &watched);
    let (worked, ()) = tokio::join!(working, watching);
    worked
}

/// Runs the roles side by side. The producer's end closes the queue of jobs, and the worker's end
/// that of results.
async fn run_roles(
    submission: publish::Submission,
    worker: LocalWorker,
    aggregator: LocalRunResources,
    (jobs, results): (&LocalQueue<Job>, &LocalQueue<JobResult>),
    shutdown: &Shutdown,
) -> Result<(RunJournal, PauseReason), AppError> {
    // When a downstream role ends early, the upstream roles are drained.
    let upstream = worker.shutdown();
    let producing = async {
        let submitted = publish::run(submission, &upstream).await;
        jobs.close();
        submitted
    };
    let working = async {
        let worked = worker.run().await;
        upstream.drain.cancel();
        results.close();
        worked
    };
    let aggregating = async {
        let aggregated = local_aggregator::run(aggregator, shutdown.clone()).await;
        upstream.drain.cancel();
        results.close();
        aggregated
    };
    let (submitted, worked, aggregated) = tokio::join!(producing, working, aggregating);
    let journal = aggregated.map_err(AppError::internal)?;
    let paused = worked.map_err(AppError::internal)?;
    submitted.map_err(AppError::internal)?;
    Ok((journal, paused))
}
