//! The role for the only run of a process: it is open from the start, and reported by its process.

use super::{
    AggregatorError, FleetOptions, SETTLING,
    batch::Incoming,
    committer::{Committer, Inputs, KnownRuns},
    receive::receive_one,
    run_registry::RunRegistry,
    settlement::settle,
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

/// Time for which the first of a batch waits for others: an fsync takes more of a processor than
/// many results, and no caller waits for a single one.
const GATHERING: Duration = Duration::from_millis(50);

/// Resources of the only run's aggregator. It returns the journal at its end.
pub struct LocalRunResources {
    /// The results, of this run alone.
    pub results: Box<dyn Subscription<JobResult>>,
    /// The run's journal.
    pub journal: RunJournal,
    /// Listeners for finished jobs.
    pub events: Events,
    /// Counters of results.
    pub metrics: Arc<Metrics>,
}

/// Results of the aggregator.
#[derive(Debug)]
pub struct Aggregated {
    /// The run's journal, still locked.
    pub journal: RunJournal,
    /// Results that came more than once and were not applied again.
    pub duplicates: u64,
}

/// Receives and commits until the queue is closed and holds nothing more. A soft stop changes
/// nothing: what workers finish must still be committed. A hard stop ends after what is in hand.
pub fn run(
    resources: LocalRunResources,
    shutdown: Shutdown,
) -> BoxFuture<'static, Result<Aggregated, AggregatorError>> {
    Box::pin(async move {
        let LocalRunResources { results, journal, events, metrics } = resources;
        let options = FleetOptions { gathering: Some(GATHERING), ..FleetOptions::default() };
        let (sender, incoming) = mpsc::channel(options.batch);
        let (settling, to_settle) = mpsc::channel(SETTLING);
        // What is in hand is committed at a hard stop too.
        let stop = CancellationToken::new();
        let settled = settle(to_settle, events.clone(), stop.clone());
        let committer = Committer {
            runs_dir: journal.files().directory().parent().map(Path::to_owned).unwrap_or_default(),
            options,
            finished: events.clone(),
            events,
            metrics,
            board: RunRegistry::default(),
            settling,
            reports: None,
            stop,
            runs: KnownRuns::only(journal),
        };
        let receiving = receive_one(results, sender, shutdown.now, Incoming::Result);
        let committing = committer.run(Inputs::only(incoming));
        let (received, committed, ()) = tokio::join!(receiving, committing, settled);
        let runs = committed?;
        received?;
        let duplicates = runs.finished.duplicates;
        // It is open until the end.
        let journal = runs.into_only().ok_or(JournalError::Stopped)?;
        Ok(Aggregated { journal, duplicates })
    })
}

#[cfg(test)]
mod tests;
