//! Publishing of a run to a fleet: it is opened, its jobs are published, and it is closed.

use crate::{
    publish,
    publish::{Submission, SubmitError, Submitted},
};
use futures_util::future::BoxFuture;
use juror_ledger::{
    admission::BudgetSettings,
    budgets::{self, ZoneChange},
    error::LedgerError,
    redis::RedisLedger,
};
use juror_types::{
    event::{Event, Events},
    id::RunId,
    run::RunRecord,
    shutdown::Shutdown,
    usage::Money,
};
use std::{pin::pin, sync::Arc, time::Duration};
use tokio::{sync::watch, time::sleep};

/// Interval at which the published number is recorded and cancellation is checked.
const NOTE_INTERVAL: Duration = Duration::from_secs(1);

/// Resources for publishing the jobs of a run.
#[derive(Clone)]
pub struct FleetRun {
    /// The fleet's backend.
    pub backend: Arc<RedisLedger>,
    /// Id of the run.
    pub run: RunId,
    /// Number of results of earlier rounds.
    pub earlier_results: u64,
    /// Number that was recorded as published before: publishing the same jobs again does not lower
    /// it.
    pub published_before: u64,
}

/// Result of publishing a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published {
    /// Number of confirmed jobs.
    pub jobs: u64,
    /// Reason why no more jobs will come.
    pub end: PublishedEnd,
}

/// Reason why no more jobs will come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublishedEnd {
    /// All are published, and the run is closed.
    Closed,
    /// The run was cancelled meanwhile, and is closed with the jobs published so far.
    Cancelled,
    /// Shutdown. The run stays open: publishing it again completes it.
    Stopped,
}

/// The error of publishing a run. It stays open: publishing it again completes it.
#[derive(Debug, thiserror::Error)]
pub enum PublishRunError {
    /// The jobs could not all be published.
    #[error(transparent)]
    Submit(#[from] SubmitError),
    /// The published number could not be recorded.
    #[error(transparent)]
    Backend(#[from] LedgerError),
    /// The run's record is gone.
    #[error(
        "Redis has lost run {0}: it was emptied or restored to an earlier state; publish \
         the run again"
    )]
    Forgotten(RunId),
}

/// The error of opening a new run.
#[derive(Debug, thiserror::Error)]
pub enum OpenRunError {
    /// The ledger failed.
    #[error(transparent)]
    Backend(#[from] LedgerError),
    /// Another run took the name meanwhile.
    #[error("run {0} was started by another command meanwhile")]
    NameTaken(RunId),
}

impl FleetRun {
    /// Publishes the jobs of an open run and closes it. About once a second it records the
    /// published number, and stops if the run was cancelled. Waits for an unreachable Redis.
    pub fn publish<'a>(
        &'a self,
        submission: Submission,
        shutdown: &'a Shutdown,
    ) -> BoxFuture<'a, Result<Published, PublishRunError>> {
        Box::pin(async move {
            let (events, published) = (submission.events.clone(), submission.published.subscribe());
            let stop = shutdown.child();
            let mut submitting = pin!(publish::run(submission, &stop));
            let interruption = tokio::select! {
                submitted = &mut submitting => return self.end(submitted?, &events, shutdown).await,
                interruption = self.watch(&published, &events) => interruption,
            };
            stop.drain.cancel();
            let Submitted { published: jobs, .. } = submitting.await?;
            match interruption {
                PublishStop::Broken(error) => Err(error.into()),
                PublishStop::Forgotten => Err(PublishRunError::Forgotten(self.run.clone())),
                PublishStop::Cancelled => {
                    self.close(jobs, &events, shutdown).await?;
                    Ok(Published { jobs, end: PublishedEnd::Cancelled })
                }
            }
        })
    }

    async fn end(
        &self,
        submitted: Submitted,
        events: &Events,
        shutdown: &Shutdown,
    ) -> Result<Published, PublishRunError> {
        let jobs = submitted.published;
        if submitted.complete {
            self.close(jobs, events, shutdown).await?;
            return Ok(Published { jobs, end: PublishedEnd::Closed });
        }
        self.backend.record_published(&self.run, self.results(jobs)).await?;
        Ok(Published { jobs, end: PublishedEnd::Stopped })
    }

    /// Records and checks until there is a reason to stop.
    async fn watch(&self, published: &watch::Receiver<u64>, events: &Events) -> PublishStop {
        let mut away = false;
        loop {
            sleep(NOTE_INTERVAL).await;
            let jobs = *published.borrow();
            match self.note(jobs).await {
                Ok(None) => away = false,
                Ok(Some(interruption)) => return interruption,
                Err(LedgerError::Unavailable(problem)) => {
                    if !away {
                        events.emit(Event::Warning(problem)).await;
                    }
                    away = true;
                }
                Err(error @ LedgerError::Broken(_)) => return PublishStop::Broken(error),
            }
        }
    }

    async fn note(&self, jobs: u64) -> Result<Option<PublishStop>, LedgerError> {
        if !self.backend.record_published(&self.run, self.results(jobs)).await? {
            return Ok(Some(PublishStop::Forgotten));
        }
        let status = self.backend.run_status(&self.run).await?;
        let cancelled = status.is_some_and(|status| status.cancelled);
        Ok(cancelled.then_some(PublishStop::Cancelled))
    }

    /// Closes the run, as soon as Redis is reachable.
    async fn close(
        &self,
        jobs: u64,
        events: &Events,
        shutdown: &Shutdown,
    ) -> Result<(), PublishRunError> {
        let mut away = false;
        loop {
            let problem = match self.backend.close_run(&self.run, self.results(jobs)).await {
                Ok(true) => return Ok(()),
                Ok(false) => return Err(PublishRunError::Forgotten(self.run.clone())),
                Err(LedgerError::Unavailable(problem)) => problem,
                Err(broken) => return Err(broken.into()),
            };
            if !away {
                events.emit(Event::Warning(problem.clone())).await;
            }
            away = true;
            tokio::select! {
                () = sleep(NOTE_INTERVAL) => {}
                () = shutdown.drain.cancelled() => {
                    return Err(LedgerError::Unavailable(problem).into());
                }
            }
        }
    }

    /// Number of results to come once this number of jobs is published.
    fn results(&self, jobs: u64) -> u64 {
        self.published_before.max(self.earlier_results + jobs)
    }
}

/// Changes the budget of an active run, and its record.
pub fn change_budgets<'a>(
    backend: &'a RedisLedger,
    record: &'a RunRecord,
    settings: &'a BudgetSettings,
) -> BoxFuture<'a, Result<Option<ZoneChange>, LedgerError>> {
    Box::pin(async move {
        let change = budgets::open_run(backend, record, settings, Money::ZERO).await?;
        backend.update_record(record).await?;
        Ok(change)
    })
}

/// Opens a new run: reserves its name, writes its budget, then its record. Must complete before jobs
/// are published.
pub fn open<'a>(
    backend: &'a RedisLedger,
    record: &'a RunRecord,
    settings: &'a BudgetSettings,
) -> BoxFuture<'a, Result<Option<ZoneChange>, OpenRunError>> {
    Box::pin(async move {
        if !backend.reserve_run_name(record).await? {
            return Err(OpenRunError::NameTaken(record.run_id.clone()));
        }
        let opened = reopen(backend, record, settings, Money::ZERO).await;
        // Of an announced run, the record holds the name.
        if opened.is_err() {
            backend.release_run_name(record).await?;
        }
        Ok(opened?)
    })
}

/// Reopens a run whose results cost `spent`: writes its budget, then its record. Must complete
/// before jobs are published.
pub fn reopen<'a>(
    backend: &'a RedisLedger,
    record: &'a RunRecord,
    settings: &'a BudgetSettings,
    spent: Money,
) -> BoxFuture<'a, Result<Option<ZoneChange>, LedgerError>> {
    Box::pin(async move {
        let change = budgets::open_run(backend, record, settings, spent).await?;
        backend.announce_run(record).await?;
        Ok(change)
    })
}

/// Reason why publishing ends early.
enum PublishStop {
    Cancelled,
    Forgotten,
    Broken(LedgerError),
}

#[cfg(test)]
mod tests;
