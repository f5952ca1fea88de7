//! Runs of a fleet, published by this process.

use super::{
    block_on_thread,
    notice::{Notice, Notify},
    request_validator::RunRequestValidator,
};
use crate::{
    error::AppError,
    fleet::{
        cancel, namespace_of, open_backend, open_backend_of,
        publish::Publication,
        retry_plan::RetryPlan,
        run_to_publish::{Opening, RunToPublish},
    },
    reused_run_name::{LedgerPlace, refuse_reused_name},
    run::run_setup::RunSetup,
    run_request::QueuedRun,
    settings::Settings,
};
use juror_ledger::redis::RedisLedger;
use juror_producer::fleet::PublishedEnd;
use juror_queue::Priority;
use juror_types::{event::Events, id::RunId, run::RunRecord, shutdown::Shutdown, usage::Money};
use parking_lot::Mutex;
use std::{collections::HashSet, sync::Arc, time::Duration};
use tokio::{
    sync::{oneshot, watch},
    time::timeout,
};
use tokio_util::task::TaskTracker;

/// Maximum time that a request waits for an unavailable broker.
const MAX_CONNECT_WAIT: Duration = Duration::from_secs(5);

/// Time limit of a status query.
const STATUS_TIMEOUT: Duration = Duration::from_secs(2);

/// Publisher of runs, with a task for each.
pub struct FleetRuns {
    tasks: TaskTracker,
    shutdown: Shutdown,
    /// Runs that were cancelled in this process and not resumed since.
    cancelled: Mutex<HashSet<RunId>>,
    notify: Notify,
}

impl FleetRuns {
    /// A publisher without runs, which stops on `shutdown`.
    pub fn new(tasks: TaskTracker, shutdown: Shutdown, notify: Notify) -> Self {
        Self { tasks, shutdown, cancelled: Mutex::default(), notify }
    }

    /// Announces a new run, and publishes its jobs.
    pub async fn start(&self, setup: RunSetup, run: &RunId) -> Result<(), AppError> {
        let settings = &setup.settings;
        let backend = open_backend(settings).await.map_err(unavailable)?;
        let free = refuse_known(&backend, run, settings).await;
        if let Err(refusal) = free {
            backend.close().await;
            return Err(refusal);
        }
        self.publish(RunToPublish::new(setup, run, None), backend).await
    }

    /// Publishes the jobs without a score again.
    pub async fn resume(
        &self,
        validator: Arc<RunRequestValidator>,
        record: RunRecord,
        budget: Option<Money>,
    ) -> Result<(), AppError> {
        let run = record.run_id.clone();
        // Reads the dataset and the journal.
        let planning = block_on_thread(plan_retry(validator, record, budget));
        let (plan, backend) = planning.await?;
        self.cancelled.lock().remove(&run);
        self.publish(plan, backend).await
    }

    /// Cancels a run; its directory may not be there yet.
    pub async fn cancel(
        &self,
        validator: &RunRequestValidator,
        run: &RunId,
        record: Option<&RunRecord>,
    ) -> Result<(), AppError> {
        let settings = validator.settings();
        let namespace = record.and_then(|record| record.fleet.as_deref());
        let namespace = namespace.unwrap_or(&settings.fleet.namespace);
        let backend = open_backend_of(settings, namespace).await.map_err(unavailable)?;
        let cancelled = match backend.run_status(run).await {
            Ok(None) => Err(AppError::not_found(format!("run {run} is unknown in the fleet"))),
            Ok(Some(_)) => cancel::cancel(&backend, run, settings).await.map_err(unavailable),
            Err(error) => Err(unavailable(error.into())),
        };
        backend.close().await;
        match cancelled?.cancelled {
            true => {
                self.cancelled.lock().insert(run.clone());
                Ok(())
            }
            false => Err(AppError::conflict(format!("run {run} is complete; nothing to cancel"))),
        }
    }

    /// True if a run was cancelled in this process and not resumed since.
    pub fn is_cancelling(&self, run: &RunId) -> bool {
        self.cancelled.lock().contains(run)
    }

    /// The fleet's record of a run; `None` if it is unknown or the query times out.
    pub async fn queued_run(&self, settings: &Settings, run: &RunId) -> Option<QueuedRun> {
        let query = async {
            let backend = open_backend(settings).await.ok()?;
            let status = backend.run_status(run).await.ok().flatten();
            backend.close().await;
            status
        };
        let status = timeout(STATUS_TIMEOUT, query).await.ok()??;
        Some(QueuedRun { published: status.jobs(), record: status.record })
    }

    /// Announces the run, and publishes its jobs in the background.
    async fn publish(&self, run: RunToPublish, backend: Arc<RedisLedger>) -> Result<(), AppError> {
        let shutdown = self.shutdown.child();
        let (announce, announced) = oneshot::channel();
        let notify = Arc::clone(&self.notify);
        let task = self.tasks.spawn(async move {
            let outcome = publish_to_completion(&run, &backend, announce, &shutdown).await;
            backend.close().await;
            notify(match &outcome {
                Ok(end) => Notice::Done(end.clone()),
                Err(error) => Notice::Failed(format!(
                    "the jobs of run {} are not all published: {error}",
                    run.record.run_id
                )),
            });
            outcome.map(drop)
        });
        match announced.await {
            Ok(()) => Ok(()),
            Err(_) => task.await.map_err(AppError::internal)?.map_err(unavailable),
        }
    }
}

/// Publishes a run's jobs; `announce` is signalled when the run is open. Returns a summary.
async fn publish_to_completion(
    prepared: &RunToPublish,
    backend: &Arc<RedisLedger>,
    announce: oneshot::Sender<()>,
    shutdown: &Shutdown,
) -> Result<String, AppError> {
    let publication = Publication {
        run: prepared,
        backend,
        priority: Priority::Normal,
        uploaded: None,
        max_connect_wait: Some(MAX_CONNECT_WAIT),
    };
    let announced = || {
        // The requester may have disconnected.
        let _ = announce.send(());
        Ok(())
    };
    let count = watch::Sender::new(0);
    let published = publication.publish(announced, Events::silent(), count, shutdown).await?;
    let (run, jobs) = (&prepared.record.run_id, published.jobs);
    Ok(match published.end {
        PublishedEnd::Closed => format!("run {run}: {jobs} jobs are published"),
        PublishedEnd::Cancelled => {
            format!("run {run} was cancelled after {jobs} jobs were published")
        }
        PublishedEnd::Stopped => {
            let command = match prepared.opening {
                Opening::Retried { .. } => "retry",
                Opening::New | Opening::Continued { .. } => "enqueue --resume",
            };
            format!(
                "run {run}: {jobs} jobs are published, and it stays open; resume with: juror \
                 {command} {run}"
            )
        }
    })
}

async fn refuse_known(
    backend: &RedisLedger,
    run: &RunId,
    settings: &Settings,
) -> Result<(), AppError> {
    let known =
        backend.run_status(run).await.map_err(|error| unavailable(AppError::from(error)))?;
    if known.is_some() {
        return Err(AppError::conflict(format!(
            "run {run} exists already in the fleet: use another run_id"
        )));
    }
    let place = LedgerPlace::Fleet(&settings.fleet.namespace);
    refuse_reused_name(backend, run, place).await.map_err(unavailable)
}

/// The run to publish again, and its open ledger.
async fn plan_retry(
    validator: Arc<RunRequestValidator>,
    record: RunRecord,
    budget: Option<Money>,
) -> Result<(RunToPublish, Arc<RedisLedger>), AppError> {
    let run = record.run_id.clone();
    let mut setup_request = validator.resuming(&record, budget);
    setup_request.flags = setup_request.flags.overlaid_with(namespace_of(Some(&record), None)?);
    let backend = open_backend(&setup_request.settings()?).await.map_err(unavailable)?;
    let plan = RetryPlan::for_run(&backend, &setup_request, &run, Some(record)).await;
    let checked = plan.map_err(unavailable).and_then(|plan| {
        if plan.is_complete() {
            let refusal = format!("run {run} is complete: every job is scored");
            return Err(AppError::conflict(refusal));
        }
        let RunRecord { judge, budget_usd, .. } = &plan.run.record;
        validator.check_budget(judge.is_some() && budget_usd.is_none(), budget)?;
        Ok(plan.run)
    });
    match checked {
        Ok(plan) => Ok((plan, backend)),
        Err(refusal) => {
            backend.close().await;
            Err(refusal)
        }
    }
}

/// Errors of the fleet's servers are temporary.
fn unavailable(error: AppError) -> AppError {
    match error {
        AppError::Internal(cause) => AppError::Unavailable(cause),
        other => other,
    }
}
