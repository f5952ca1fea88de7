//! A run that somebody waits for in front of a screen: its progress is shown, and signals stop it.

use crate::{
    execute::{self, Executed, Execution},
    exit::Failure,
    progress::{self, RunTally},
    signals::SignalStream,
};
use juror_types::{event::Events, shutdown::Shutdown};

const EVENT_CAPACITY: usize = 1_000;

/// Runs producer, workers and aggregator until every job has its outcome, or until a signal. What
/// comes after it goes on listening.
pub async fn execute(
    execution: Execution<'_>,
    quiet: bool,
) -> Result<(Executed, SignalStream), Failure> {
    let session = execution.session;
    let begun = execute::begin(execution).await?;
    let (events, heard) = Events::channel(EVENT_CAPACITY);
    let shutdown = Shutdown::new();
    let listening = tokio::spawn(SignalStream::open().listen(shutdown.clone(), events.clone()));
    let style = progress::ProgressDisplay::fitting(quiet);
    // The budget is that of earlier rounds too.
    let (spent, budget) = (begun.spent(), session.settings.budget.run_usd);
    let tally = RunTally { spent, budget, ..RunTally::default() };
    let showing = tokio::spawn(progress::follow(heard, style, tally));
    let executed = begun.run(session, events, &shutdown).await;
    shutdown.now.cancel();
    // Both have nothing left to do; a panic in either would be a defect that loses nothing.
    let (signals, _) = tokio::join!(listening, showing);
    Ok((executed?, signals.unwrap_or_else(|_| SignalStream::open())))
}
