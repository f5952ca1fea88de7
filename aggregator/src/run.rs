//! The role: results come in, are committed to the journal, and only then acknowledged.

use crate::run_journal::RunJournal;
use futures_util::future::BoxFuture;
use juror_journal::journal::JournalError;
use juror_queue::{Delivery, Disposition, QueueError, Subscription};
use juror_telemetry::{MessageKind, Metrics};
use juror_types::{
    event::{Event, Events},
    outcome::JobResult,
    shutdown::Shutdown,
};
use std::{sync::Arc, time::Duration};
use tokio::{sync::mpsc, task, time::timeout};
use tracing::{Instrument as _, debug, error_span, info};

/// Results that are committed together at most; one fsync serves them all.
const BATCH: usize = 256;
/// Time for which the first of a batch waits for others: an fsync takes more of a processor than
/// many results, and no caller waits for a single one.
const GATHERING: Duration = Duration::from_millis(50);

/// Resources of the aggregator. It returns the journal at its end.
pub struct AggregatorResources {
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

/// Why the aggregator stopped before its end. What was committed is kept; what was not is not
/// acknowledged, and so comes again.
#[derive(Debug, thiserror::Error)]
pub enum AggregatorError {
    /// The journal cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// No more results can be received.
    #[error("results cannot be received: {0}")]
    Queue(#[from] QueueError),
    /// The thread that writes the journal is gone.
    #[error("the journal's writer ended early: {0}")]
    Writer(#[from] task::JoinError),
}

/// Receives until the queue is closed and holds nothing more. A soft stop changes nothing: what
/// workers finish must still be committed. A hard stop ends after the batch in hand.
pub fn run(
    resources: AggregatorResources,
    shutdown: Shutdown,
) -> BoxFuture<'static, Result<Aggregated, AggregatorError>> {
    Box::pin(async move {
        let AggregatorResources { mut results, journal, events, metrics } = resources;
        let (sender, receiver) = mpsc::channel(BATCH);
        let receive = async {
            // Moved in, so that the committer sees the end as soon as there is nothing to receive.
            let sender = sender;
            loop {
                let delivery = tokio::select! {
                    biased;
                    () = shutdown.now.cancelled() => return Ok(()),
                    // The committer has failed; its error tells more.
                    () = sender.closed() => return Ok(()),
                    delivery = results.next() => delivery?,
                };
                let Some(delivery) = delivery else { return Ok(()) };
                if sender.send(delivery).await.is_err() {
                    return Ok(());
                }
            }
        };
        // Of the highest level, so that every line names the run however little is logged.
        let span = error_span!("run", run = %journal.record().run_id);
        let committing = commit_all(receiver, journal, events, metrics).instrument(span);
        let (received, aggregated) = tokio::join!(receive, committing);
        let aggregated = aggregated?;
        received.map_err(AggregatorError::Queue)?;
        Ok(aggregated)
    })
}

/// Commits what comes, batch by batch; while one is being written, the next gathers.
async fn commit_all(
    mut ready: mpsc::Receiver<Delivery<JobResult>>,
    journal: RunJournal,
    events: Events,
    metrics: Arc<Metrics>,
) -> Result<Aggregated, AggregatorError> {
    let mut aggregated = Aggregated { journal, duplicates: 0 };
    let mut batch = Vec::new();
    while gather(&mut ready, &mut batch).await > 0 {
        let (kept, finished) = commit(aggregated, &batch, &events, &metrics).await?;
        aggregated = kept;
        for delivery in batch.drain(..) {
            settle(delivery, &aggregated, &events).await;
        }
        info!(results = finished.len(), duplicates = aggregated.duplicates, "results committed");
        for result in finished {
            debug!(job = %result.job_id, outcome = result.outcome.name(), "result committed");
            metrics.result_committed(result.outcome);
            events.emit(Event::Finished(result)).await;
        }
    }
    Ok(aggregated)
}

/// Waits for a batch; answers how many results it has, none at the end.
async fn gather(
    ready: &mut mpsc::Receiver<Delivery<JobResult>>,
    batch: &mut Vec<Delivery<JobResult>>,
) -> usize {
    let first = ready.recv_many(batch, BATCH).await;
    let others = async {
        let mut more = first;
        while more > 0 && batch.len() < BATCH {
            more = ready.recv_many(batch, BATCH - batch.len()).await;
        }
    };
    // Nothing is lost at its end: what was received is in the batch.
    let _ = timeout(GATHERING, others).await;
    batch.len()
}

/// Commits the batch's news; returns them.
async fn commit(
    aggregated: Aggregated,
    batch: &[Delivery<JobResult>],
    events: &Events,
    metrics: &Metrics,
) -> Result<(Aggregated, Vec<Arc<JobResult>>), AggregatorError> {
    let Aggregated { mut journal, mut duplicates } = aggregated;
    let mut results = Vec::new();
    for Delivery { message: result, redelivered, .. } in batch {
        if *redelivered {
            metrics.redelivered(MessageKind::Result);
        }
        if belongs(result, &journal) {
            results.push(Arc::clone(result));
            continue;
        }
        let run = &result.run_id;
        let warning =
            format!("a result of run {run} was set aside: it belongs to another run directory");
        events.emit(Event::Warning(warning)).await;
    }
    let committing = move || {
        let news = journal.commit(results.iter().map(Arc::as_ref))?;
        Ok::<_, JournalError>((journal, results, news))
    };
    // Should the write fail, this journal is dropped with the error and read anew.
    let (journal, results, news) = task::spawn_blocking(committing).await??;
    for _ in news.iter().filter(|is_new| !**is_new) {
        duplicates += 1;
        metrics.duplicate(MessageKind::Result);
    }
    let news =
        results.into_iter().zip(news).filter_map(|(result, is_new)| is_new.then_some(result));
    Ok((Aggregated { journal, duplicates }, news.collect()))
}

async fn settle(delivery: Delivery<JobResult>, aggregated: &Aggregated, events: &Events) {
    let disposition = if belongs(&delivery.message, &aggregated.journal) {
        Disposition::Acknowledge
    } else {
        Disposition::DeadLetter("a result of another run".into())
    };
    if let Err(error) = delivery.settle(disposition).await {
        // It comes again and is seen to be a duplicate.
        let warning = format!("a committed result could not be acknowledged: {error}");
        events.emit(Event::Warning(warning)).await;
    }
}

fn belongs(result: &JobResult, journal: &RunJournal) -> bool {
    result.run_id == journal.record().run_id
}

#[cfg(test)]
mod tests;
