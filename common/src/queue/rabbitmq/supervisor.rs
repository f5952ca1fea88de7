//! The one task that owns the connection: it makes it anew whenever it breaks, and publishes.

use super::{
    super::QueueError, address::Address, backoff::Backoff, link::Link, publish::Publisher,
    shared::Phase, topology::Topology,
};
use crate::event::{Event, Events};
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

/// A link that lasted so long was a good one, and the next pause is short again.
const GOOD_LINK: Duration = Duration::from_secs(10);

pub(super) struct Supervisor {
    pub(super) connector: Connector,
    pub(super) phase: watch::Sender<Phase>,
    pub(super) stop: CancellationToken,
}

/// What makes connections.
pub(super) struct Connector {
    pub(super) address: Address,
    pub(super) topology: Topology,
    pub(super) events: Events,
}

impl Supervisor {
    /// Keeps a link up, this one first, until it is stopped or the broker refuses us.
    pub(super) async fn run(self, first: Link, mut publisher: Publisher) {
        let mut link = Arc::new(first);
        let mut backoff = Backoff::of_connections();
        let reason = loop {
            let since = Instant::now();
            self.phase.send_replace(Phase::Up(Arc::clone(&link)));
            let failure = tokio::select! {
                biased;
                () = self.stop.cancelled() => QueueError::Closed,
                failure = link.over() => failure,
                failure = link.watch() => failure,
                failure = publisher.serve(&link) => failure,
            };
            self.phase.send_replace(Phase::Away);
            link.close().await;
            if !matches!(failure, QueueError::Unavailable(_)) {
                break failure;
            }
            if since.elapsed() >= GOOD_LINK {
                backoff = Backoff::of_connections();
            }
            self.connector.warn(format!("{failure}; connecting again")).await;
            let connecting = self.connector.connect(&mut backoff, None);
            let connected = tokio::select! {
                biased;
                () = self.stop.cancelled() => break QueueError::Closed,
                connected = connecting => connected,
            };
            link = match connected {
                Ok(next) => Arc::new(next),
                Err(refused) => break refused,
            };
        };
        publisher.end(&reason);
        self.phase.send_replace(Phase::Over(reason));
    }
}

impl Connector {
    /// The first connection: waits for a broker that is away, but not longer than `patience`.
    pub(super) async fn connect_first(&self, patience: Duration) -> Result<Link, QueueError> {
        self.connect(&mut Backoff::of_connections(), Some(patience)).await
    }

    /// Tries until the broker answers, refuses us, or `patience` is at its end.
    async fn connect(
        &self,
        backoff: &mut Backoff,
        patience: Option<Duration>,
    ) -> Result<Link, QueueError> {
        let since = Instant::now();
        let mut told = patience.is_none();
        loop {
            // Again after a failure, and at once at the start.
            if backoff.is_used() || patience.is_none() {
                sleep(backoff.next()).await;
            }
            let problem = match Link::connect(&self.address, &self.topology).await {
                Ok(link) => return Ok(link),
                Err(QueueError::Unavailable(problem)) => problem,
                Err(refused) => return Err(refused),
            };
            let left = patience.map(|patience| patience.saturating_sub(since.elapsed()));
            if left.is_some_and(|left| left.is_zero()) {
                let remedy = "start it, or correct the broker's URL";
                return Err(QueueError::Unavailable(format!("{problem}; {remedy}")));
            }
            if !told {
                told = true;
                let seconds = left.unwrap_or_default().as_secs_f32().ceil();
                self.warn(format!("{problem}; waiting for it, at most {seconds} s")).await;
            }
            if !backoff.is_used() {
                sleep(backoff.next().min(left.unwrap_or(Duration::MAX))).await;
            }
        }
    }

    async fn warn(&self, warning: String) {
        self.events.emit(Event::Warning(warning)).await;
    }
}
