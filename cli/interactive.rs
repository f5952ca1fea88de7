//! Interactive work: progress is shown, and signals stop it.

use crate::signals::SignalStream;
use juror_types::{
    event::{Event, Events},
    shutdown::Shutdown,
};
use tokio::sync::mpsc;

const EVENT_CAPACITY: usize = 1_000;

/// Runs `work` until it ends or signals stop it, while `show` displays its events. Returns the
/// signal stream for the next phase of the command.
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
    // A panic of the display loses nothing.
    let _ = showing.await;
    (done, signals)
}

/// Runs `work` until it ends or signals stop it; the first signal emits an event. Returns the
/// signal stream for the next phase of the command.
pub async fn until_signal<T>(
    signals: SignalStream,
    events: Events,
    work: impl AsyncFnOnce(&Shutdown) -> T,
) -> (T, SignalStream) {
    let shutdown = Shutdown::new();
    let listening = tokio::spawn(signals.listen(shutdown.clone(), events));
    let done = work(&shutdown).await;
    shutdown.now.cancel();
    // A panic of the listener loses nothing.
    (done, listening.await.unwrap_or_else(|_| SignalStream::open()))
}
