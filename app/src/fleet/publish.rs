//! Publication of a run's jobs to the fleet.

use super::{
    open_queues_within,
    run_to_publish::{Opening, RunToPublish},
};
use crate::{
    credentials::credentials,
    error::AppError,
    run::{jobs_to_publish::jobs_to_publish, run_setup::RunSetup},
};
use juror_analysis::fold::Rounds;
use juror_files::data_roots::Roots;
use juror_ledger::redis::RedisLedger;
use juror_producer::{
    fleet::{
        FleetRun, OpenRunError, PublishRunError, Published, PublishedEnd, change_budgets, open,
        reopen,
    },
    publish::{Submission, SubmitFailure},
    upload::{Uploaded, Uploader},
};
use juror_queue::{DeadLetters as _, Priority, QueueError, rabbitmq::RabbitQueues};
use juror_types::{
    event::{Event, Events},
    id::RunId,
    job::Job,
    shutdown::Shutdown,
};
use std::{sync::Arc, time::Duration};
use tokio::sync::watch;

/// Maximum number of unconfirmed publishes.
const MAX_UNCONFIRMED: usize = 1_000;

/// A run whose jobs are to be published.
pub struct Publication<'run> {
    /// Run whose jobs are published.
    pub run: &'run RunToPublish,
    /// Redis ledger of the fleet.
    pub backend: &'run Arc<RedisLedger>,
    /// Priority of the jobs.
    pub priority: Priority,
    /// Callback with the number of uploaded files, if the run uploads; called even if publishing
    /// fails.
    pub uploaded: Option<&'run (dyn Fn(Uploaded) + Send + Sync)>,
    /// Upper limit of the wait for the broker, over that of the settings.
    pub max_connect_wait: Option<Duration>,
}

impl Publication<'_> {
    /// Publishes the jobs until done or `shutdown`; `announced` is called when the run is open,
    /// before the first job, and `published` receives the number of published jobs.
    pub async fn publish(
        self,
        announced: impl FnOnce() -> Result<(), AppError>,
        events: Events,
        published: watch::Sender<u64>,
        shutdown: &Shutdown,
    ) -> Result<Published, AppError> {
        let settings = &self.run.setup.settings;
        let own = Duration::from_secs(settings.fleet.connect_timeout_seconds);
        let connect_wait = self.max_connect_wait.map_or(own, |most| own.min(most));
        let queues = tokio::select! {
            queues = open_queues_within(settings, connect_wait, events.clone()) => queues?,
            () = shutdown.drain.cancelled() => {
                return Err(AppError::internal("stopped before anything was published; run the command again"));
            }
        };
        let ended = self.into_queues(&queues, announced, events, published, shutdown).await;
        queues.close().await;
        ended
    }

    async fn into_queues(
        self,
        queues: &RabbitQueues,
        announced: impl FnOnce() -> Result<(), AppError>,
        events: Events,
        published: watch::Sender<u64>,
        shutdown: &Shutdown,
    ) -> Result<Published, AppError> {
        let uploader = self.uploader()?.map(Arc::new);
        let RunToPublish { setup, record, opening, .. } = self.run;
        let (run, budgets) = (&record.run_id, &setup.settings.budget);
        let zone_change = match opening {
            Opening::Continued { .. } => change_budgets(self.backend, record, budgets).await?,
            Opening::New => open(self.backend, record, budgets).await.map_err(open_failure)?,
            Opening::Retried { spent, .. } => {
                let zone_change = reopen(self.backend, record, budgets, *spent).await?;
                self.backend.mark_retrying(run).await?;
                zone_change
            }
        };
        announced()?;
        if let Some(change) = zone_change {
            events.emit(Event::Warning(change.to_string())).await;
        }
        if self.backend.is_admission_suspended().await? {
            let warning = format!(
                "calls of run {run} are suspended until the ledger is reconciled: Redis is new, or \
                 was restarted or emptied, or has lost records; start juror aggregate, unless one runs"
            );
            events.emit(Event::Warning(warning)).await;
        }
        if setup.renders() && queues.workers().await?.rendering == 0 {
            let warning = format!(
                "no worker of the fleet can render, and jobs of run {run} wait for one that can: \
                 start `juror worker` on a machine with a browser (its first line names its \
                 renderer)"
            );
            events.emit(Event::Warning(warning)).await;
        }
        let submission = self.submission(queues, uploader.clone(), events, published)?;
        let publishing = self.fleet_run();
        let ended = publishing.publish(submission, shutdown).await;
        if let (Some(uploader), Some(uploaded)) = (uploader, self.uploaded) {
            uploaded(uploader.uploaded());
        }
        let ended = ended.map_err(fleet_failure)?;
        if let (Opening::Retried { rounds, .. }, PublishedEnd::Closed) = (opening, ended.end) {
            remove_superseded(queues, run, rounds).await?;
        }
        Ok(ended)
    }

    /// Uploader to the place that the run's record names, if it names one.
    fn uploader(&self) -> Result<Option<Uploader>, AppError> {
        let RunToPublish { setup, record, .. } = self.run;
        record.upload.as_deref().map(|place| uploader(place, setup)).transpose()
    }

    fn fleet_run(&self) -> FleetRun {
        let (earlier_results, published_before) = match &self.run.opening {
            Opening::New => (0, 0),
            Opening::Continued { published_before } => (0, *published_before),
            // Missing results are returned by the jobs that are published for them.
            Opening::Retried { rounds, .. } => (rounds.results() - rounds.missing(), 0),
        };
        let (backend, run) = (Arc::clone(self.backend), self.run.record.run_id.clone());
        FleetRun { backend, run, earlier_results, published_before }
    }

    fn submission(
        &self,
        queues: &RabbitQueues,
        uploader: Option<Arc<Uploader>>,
        events: Events,
        published: watch::Sender<u64>,
    ) -> Result<Submission, AppError> {
        let RunToPublish { setup, record, opening, .. } = self.run;
        let progress = match opening {
            Opening::New | Opening::Continued { .. } => None,
            Opening::Retried { rounds, .. } => Some(Arc::clone(rounds)),
        };
        let queue = Arc::new(queues.jobs());
        let submission = jobs_to_publish(setup, &record.run_id, progress, queue, events)?;
        Ok(Submission {
            jobs: submission.jobs.inlining(&setup.dataset),
            priority: self.priority,
            uploader,
            window: MAX_UNCONFIRMED,
            published,
            ..submission
        })
    }
}

/// Uploader of a dataset's files to a bucket; sends no request yet.
pub fn uploader(place: &str, setup: &RunSetup) -> Result<Uploader, AppError> {
    let files = &setup.settings.files;
    let opened = Uploader::open(
        place,
        files,
        credentials(files, &setup.environment, true)?,
        Roots::new(setup.data_roots()),
    );
    opened.map_err(|error| AppError::invalid(format!("--upload: {error}")))
}

/// Removes dead letters of jobs that are published in a later round: a replay would judge them
/// twice.
async fn remove_superseded(
    queues: &RabbitQueues,
    run: &RunId,
    rounds: &Rounds,
) -> Result<(), AppError> {
    let superseded = |job: &Job| {
        let next = rounds.next_round(&job.job_id);
        job.run_id == *run && next.is_none_or(|next| job.round < next)
    };
    queues.jobs().remove_dead_letters(&superseded).await.map(drop).map_err(AppError::from)
}

fn open_failure(error: OpenRunError) -> AppError {
    match error {
        OpenRunError::Backend(error) => error.into(),
        OpenRunError::NameTaken(ref run) => AppError::conflict(format!(
            "{error}: use another --run-id, or continue it with: juror enqueue --resume {run}"
        )),
    }
}

fn fleet_failure(error: PublishRunError) -> AppError {
    let submit = match error {
        PublishRunError::Backend(error) => return error.into(),
        PublishRunError::Forgotten(_) => return AppError::internal(error),
        PublishRunError::Submit(submit) => submit,
    };
    match &submit.cause {
        SubmitFailure::Queue(QueueError::Refused(_)) => AppError::invalid(submit),
        SubmitFailure::Upload(error) if error.is_of_the_dataset() => AppError::invalid(submit),
        _ => AppError::internal(submit),
    }
}
