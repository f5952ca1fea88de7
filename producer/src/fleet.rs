//! A run's way into a fleet: opened, its jobs published, closed.

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

/// Interval at which the published number is noted, and the run's cancellation is looked for.
const NOTE_INTERVAL: Duration = Duration::from_secs(1);

/// Resources for publishing the jobs of a run.
#[derive(Clone)]
pub struct FleetRun {
    /// The fleet's backend.
    pub backend: Arc<RedisLedger>,
    /// The run.
    pub run: RunId,
    /// Results of earlier rounds, which the run has beside those of the jobs published now.
    pub earlier_results: u64,
    /// Number that was noted as published before: publishing the same jobs again makes it no less.
    pub noted: u64,
}

/// End of publishing a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published {
    /// Jobs that the queue vouches for.
    pub jobs: u64,
    /// Reason why no more will come.
    pub end: PublishedEnd,
}

/// Reason why no more jobs will come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublishedEnd {
    /// They are all published, and the run is closed.
    Closed,
    /// The run was cancelled meanwhile, and is closed with what was published.
    Cancelled,
    /// A stop was asked for. The run is left open: publishing it again completes it.
    Stopped,
}

/// Reason why a run could not be published. It is left open: publishing it again completes it.
#[derive(Debug, thiserror::Error)]
pub enum PublishRunError {
    /// The jobs could not all be published.
    #[error(transparent)]
    Submit(#[from] SubmitError),
    /// The published number could not be noted.
    #[error(transparent)]
    Backend(#[from] LedgerError),
    /// The run's record is gone.
    #[error(
        "Redis does not know run {0} any more: it was emptied, or has lost what it knew; publish \
         the run again"
    )]
    Forgotten(RunId),
}

/// Changes what a run may cost that goes on, and what its record says of that.
pub fn change_budgets<'a>(
    backend: &'a RedisLedger,
    record: &'a RunRecord,
    settings: &'a BudgetSettings,
) -> BoxFuture<'a, Result<Option<ZoneChange>, LedgerError>> {
    Box::pin(async move {
        let change = budgets::open_run(backend, record, settings, Money::ZERO).await?;
        backend.note_record(record).await?;
        Ok(change)
    })
}

/// Opens a run, or opens it again: what it may cost first, then what it is. Nothing may be
/// published before.
pub fn open<'a>(
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

impl FleetRun {
    /// Publishes the jobs of an open run and closes it. About once a second it notes what is
    /// published, and stops if the run was cancelled. A Redis that is away is waited for.
    pub fn publish<'a>(
        &'a self,
        submission: Submission,
        shutdown: &'a Shutdown,
    ) -> BoxFuture<'a, Result<Published, PublishRunError>> {
        Box::pin(async move {
            let (events, published) = (submission.events.clone(), submission.published.subscribe());
            let stop = Shutdown { drain: shutdown.drain.child_token(), now: shutdown.now.clone() };
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
        self.backend.note_published(&self.run, self.results(jobs)).await?;
        Ok(Published { jobs, end: PublishedEnd::Stopped })
    }

    /// Notes and looks until there is a reason to stop.
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
        if !self.backend.note_published(&self.run, self.results(jobs)).await? {
            return Ok(Some(PublishStop::Forgotten));
        }
        let status = self.backend.run_status(&self.run).await?;
        let cancelled = status.is_some_and(|status| status.cancelled);
        Ok(cancelled.then_some(PublishStop::Cancelled))
    }

    /// Closes the run, as soon as Redis takes it.
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

    /// Number of results once so many jobs are published.
    fn results(&self, jobs: u64) -> u64 {
        self.noted.max(self.earlier_results + jobs)
    }
}

/// Reason why publishing ends early.
enum PublishStop {
    Cancelled,
    Forgotten,
    Broken(LedgerError),
}

#[cfg(test)]
mod tests;
