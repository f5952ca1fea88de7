//! The role for a local run: it is open from the start, and reported by its process.

use super::{
    AggregatorError, AggregatorOptions, END_CAPACITY,
    acknowledge_deliveries::end_deliveries,
    committer::{Committer, Inputs, KnownRuns},
    incoming::Incoming,
    receive::receive_one,
    run_registry::RunRegistry,
};
use crate::run_journal::RunJournal;
use futures_util::future::BoxFuture;
use juror_journal::journal::JournalError;
use juror_queue::Subscription;
use juror_telemetry::Metrics;
use juror_types::{event::Events, outcome::JobResult, shutdown::Shutdown};
use std::{path::Path, sync::Arc, time::Duration};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Time for which the first result of a batch waits for others: an fsync costs more CPU than many
/// results, and no caller waits for a single one.
const BATCH_DELAY: Duration = Duration::from_millis(50);

/// Resources of a local run's aggregator, which returns the journal at its end.
pub struct LocalRunResources {
    /// The results of this run.
    pub results: Box<dyn Subscription<JobResult>>,
    /// The run's journal.
    pub journal: RunJournal,
    /// Receiver of finished jobs.
    pub events: Events,
    /// Counters of results.
    pub metrics: Arc<Metrics>,
}

/// Receives and commits until the queue is closed and empty. A graceful shutdown changes nothing:
/// results of jobs in progress must be committed. An immediate one ends after the received results.
/// Returns the journal, still locked.
pub fn run(
    resources: LocalRunResources,
    shutdown: Shutdown,
) -> BoxFuture<'static, Result<RunJournal, AggregatorError>> {
    Box::pin(async move {
        let LocalRunResources { results, journal, events, metrics } = resources;
        let options =
            AggregatorOptions { batch_delay: Some(BATCH_DELAY), ..AggregatorOptions::default() };
        let (sender, incoming) = mpsc::channel(options.batch);
        let (ending, to_end) = mpsc::channel(END_CAPACITY);
        // Received results are committed at an immediate shutdown too.
        let stop = CancellationToken::new();
        let acknowledged = end_deliveries(to_end, events.clone(), stop.clone());
        let committer = Committer {
            runs_dir: journal.files().directory().parent().map(Path::to_owned).unwrap_or_default(),
            options,
            finished: events.clone(),
            events,
            metrics,
            registry: RunRegistry::default(),
            ending,
            reports: None,
            stop,
            runs: KnownRuns::for_local_run(journal),
        };
        let receiving = receive_one(results, sender, shutdown.now, Incoming::Result);
        let committing = committer.run(Inputs::for_local_run(incoming));
        let (received, committed, ()) = tokio::join!(receiving, committing, acknowledged);
        let runs = committed?;
        received?;
        // The run stays open until the end.
        Ok(runs.into_local_run().ok_or(JournalError::Stopped)?)
    })
}

#[cfg(test)]
mod tests;
