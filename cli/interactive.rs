//! Interactive work: progress is shown, and signals stop it.

use crate::{
    exit::AppError,
    progress::{self, ProgressDisplay},
    signals::SignalStream,
    terminal,
};
use juror_app::fleet::{publish::Publication, run_to_publish::RunToPublish};
use juror_ledger::redis::RedisLedger;
use juror_producer::{fleet::Published, upload::Uploaded};
use juror_queue::Priority;
use juror_types::{
    event::{Event, Events},
    shutdown::Shutdown,
};
use std::{net::SocketAddr, sync::Arc};
use tokio::{
    net::TcpListener,
    sync::{mpsc, watch},
};

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

/// Opens a listener on the address of `--listen`.
pub async fn listen(address: SocketAddr) -> Result<TcpListener, AppError> {
    TcpListener::bind(address).await.map_err(|error| {
        AppError::internal(format!(
            "cannot listen on {address}: {error}; choose another address with --listen"
        ))
    })
}

/// Publishes jobs until done or a signal; `announced` is called when the run is open, before the
/// first job.
pub async fn publish(
    prepared: &RunToPublish,
    backend: &Arc<RedisLedger>,
    priority: Priority,
    announced: impl FnOnce() -> Result<(), AppError>,
) -> Result<Published, AppError> {
    let (published, count) = watch::channel(0);
    let display = ProgressDisplay::fitting();
    let uploaded = |Uploaded { sent, found }: Uploaded| {
        terminal::print_hint(&format!("{sent} files are uploaded, {found} were there already"));
    };
    let uploaded = Some(&uploaded as &(dyn Fn(Uploaded) + Send + Sync));
    let publication =
        Publication { run: prepared, backend, priority, uploaded, max_connect_wait: None };
    let (ended, _) = run(
        |events| progress::publishing(events, count, display),
        async |events, shutdown: &Shutdown| {
            publication.publish(announced, events, published, shutdown).await
        },
    )
    .await;
    ended
}
