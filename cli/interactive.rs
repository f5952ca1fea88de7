//! Work in front of a terminal: its progress is shown, and signals stop it.

use crate::signals::SignalStream;
use juror_types::{
    event::{Event, Events},
    shutdown::Shutdown,
};
use tokio::sync::mpsc;

const EVENT_CAPACITY: usize = 1_000;

/// Does `work` while `show` shows its events and signals stop it. The signal stream that it returns
/// goes on listening for the next part of the command.
pub async fn run<T, Showing>(
    show: impl FnOnce(mpsc::Receiver<Event>) -> Showing,
    work: impl AsyncFnOnce(Events, &Shutdown) -> T,
) -> (T, SignalStream)
where
    Showing: Future<Output = ()> + Send + 'static,
{
    let (events, received) = Events::channel(EVENT_CAPACITY);
    let showing = tokio::spawn(show(received));
    let (done, signals) =
        until_signal(SignalStream::open(), events.clone(), async |shutdown: &Shutdown| {
            work(events, shutdown).await
        })
        .await;
    // Nothing is left to show; a panic there would be a defect that loses nothing.
    let _ = showing.await;
    (done, signals)
}

/// Does `work` until signals stop it, of the first of which `events` are told. The signal stream
/// that it returns goes on listening for the next part of the command.
pub async fn until_signal<T>(
    signals: SignalStream,
    events: Events,
    work: impl AsyncFnOnce(&Shutdown) -> T,
) -> (T, SignalStream) {
    let shutdown = Shutdown::new();
    let listening = tokio::spawn(signals.listen(shutdown.clone(), events));
    let done = work(&shutdown).await;
    shutdown.now.cancel();
    // It has nothing left to do; a panic in it would be a defect that loses nothing.
    (done, listening.await.unwrap_or_else(|_| SignalStream::open()))
}
