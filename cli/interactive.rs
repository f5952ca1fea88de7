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
    let shutdown = Shutdown::new();
    let listening = tokio::spawn(SignalStream::open().listen(shutdown.clone(), events.clone()));
    let showing = tokio::spawn(show(received));
    let done = work(events, &shutdown).await;
    shutdown.now.cancel();
    // Both have nothing left to do; a panic in either would be a defect that loses nothing.
    let (signals, _) = tokio::join!(listening, showing);
    (done, signals.unwrap_or_else(|_| SignalStream::open()))
}
