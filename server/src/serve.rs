//! The role: answers on a listener until it is stopped.

use crate::{
    access::{Peer, TrustedProxies},
    state::AppState,
};
use axum::{Router, http::Request};
use futures_util::future::BoxFuture;
use hyper::{body::Incoming, server::conn::http1};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::sleep,
};
use tokio_io_timeout::TimeoutStream;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::ServiceExt as _;

/// Connections at once; further ones wait in the system's own line.
const MAX_CONNECTIONS: usize = 1_024;
/// Connections at once from one address of another machine, so that one client cannot take all of
/// them. Loopback addresses and trusted proxies speak for many clients and have no such limit.
const MAX_OF_ONE_ADDRESS: usize = 256;
/// Time limit for a request's head to arrive.
const MAX_HEAD: Duration = Duration::from_secs(15);
/// Time for which a reader may take nothing of what is there for it.
const MAX_STALL: Duration = Duration::from_secs(30);
/// Time limit of requests that are under way once the server stops.
const GRACE: Duration = Duration::from_secs(5);

/// Answers on `listener` until `stop` is cancelled, then finishes what is under way, within five
/// seconds, and returns when every connection and every watcher has ended.
pub fn serve(
    listener: TcpListener,
    site: AppState,
    router: Router,
    proxies: TrustedProxies,
    stop: CancellationToken,
) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let connections = TaskTracker::new();
        let too_late = CancellationToken::new();
        let limiter = Arc::new(ConnectionLimiter { proxies, ..ConnectionLimiter::default() });
        let accepting = async {
            // The semaphore is never closed.
            while let Ok(place) = Arc::clone(&places).acquire_owned().await {
                let (stream, peer) = accept(&listener).await;
                // Who has too many already is hung up on.
                let Some(permit) = ConnectionLimiter::admit(&limiter, peer.ip()) else { continue };
                let (router, stop, too_late) = (router.clone(), stop.clone(), too_late.clone());
                connections.spawn(async move {
                    let _held = (place, permit);
                    too_late.run_until_cancelled(connection(stream, peer, router, stop)).await;
                });
            }
        };
        stop.run_until_cancelled(accepting).await;
        connections.close();
        tokio::select! {
            () = connections.wait() => {}
            () = sleep(GRACE) => too_late.cancel(),
        }
        connections.wait().await;
        site.live.ended().await;
    })
}

/// Counts of each address's connections.
#[derive(Debug, Default)]
struct ConnectionLimiter {
    counts: Mutex<HashMap<IpAddr, usize>>,
    proxies: TrustedProxies,
}

/// One connection of an address, as long as this lives.
struct ConnectionPermit {
    limiter: Arc<ConnectionLimiter>,
    address: IpAddr,
}

impl ConnectionLimiter {
    /// Counts a connection, unless its address has as many as it may have.
    fn admit(limiter: &Arc<Self>, address: IpAddr) -> Option<ConnectionPermit> {
        let address = address.to_canonical();
        let mut counts = limiter.counts();
        let count = counts.entry(address).or_insert(0);
        let is_limited = !address.is_loopback() && !limiter.proxies.contains(address);
        if *count >= MAX_OF_ONE_ADDRESS && is_limited {
            return None;
        }
        *count += 1;
        Some(ConnectionPermit { limiter: Arc::clone(limiter), address })
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let mut counts = self.limiter.counts();
        if let Some(count) = counts.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.address);
            }
        }
    }
}

async fn connection<Stream>(
    stream: Stream,
    peer: SocketAddr,
    router: Router,
    stop: CancellationToken,
) where
    Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(MAX_STALL));
    let service = router.map_request(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Peer(peer));
        request
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(MAX_HEAD)
        .serve_connection(TokioIo::new(Box::pin(stream)), TowerToHyperService::new(service));
    tokio::pin!(serving);
    let served = tokio::select! {
        served = serving.as_mut() => served,
        () = stop.cancelled() => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = served {
        tracing::debug!(%error, "a connection ended early");
    }
}

async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                // Too many open files, mostly: others have to close first.
                sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::get;
    use tokio::{
        io::{AsyncWriteExt as _, duplex},
        time::timeout,
    };

    #[tokio::test(start_paused = true)]
    async fn who_takes_nothing_of_its_answer_loses_its_place() {
        let (mut reader, stream) = duplex(1 << 10);
        let router = Router::new().route("/", get(|| async { "x".repeat(1 << 20) }));
        let peer = SocketAddr::from(([127, 0, 0, 1], 1));
        let serving = connection(stream, peer, router, CancellationToken::new());
        reader.write_all(b"GET / HTTP/1.1\r\nhost: juror\r\n\r\n").await.unwrap();
        timeout(Duration::from_secs(3_600), serving).await.unwrap();
        drop(reader);
    }

    #[test]
    fn one_address_has_its_share_of_the_places_and_this_machine_all() {
        let limiter = Arc::new(ConnectionLimiter::default());
        let admit = |address: &str| ConnectionLimiter::admit(&limiter, address.parse().unwrap());
        let mut held: Vec<_> =
            (0..MAX_OF_ONE_ADDRESS).map(|_| admit("192.0.2.7").unwrap()).collect();
        assert!(admit("192.0.2.7").is_none() && admit("::ffff:192.0.2.7").is_none());
        assert!(admit("192.0.2.8").is_some());
        let own: Vec<_> = (0..=MAX_OF_ONE_ADDRESS).map(|_| admit("127.0.0.1").unwrap()).collect();
        held.pop();
        held.push(admit("192.0.2.7").unwrap());
        assert!(admit("192.0.2.7").is_none());
        drop((held, own));
        assert!(limiter.counts().is_empty(), "nobody is remembered");
        let proxies = TrustedProxies::parse(&["192.0.2.0/24".to_owned()]).unwrap();
        let limiter = Arc::new(ConnectionLimiter { proxies, ..ConnectionLimiter::default() });
        let address = "192.0.2.7".parse().unwrap();
        let held: Vec<_> = (0..=MAX_OF_ONE_ADDRESS)
            .map_while(|_| ConnectionLimiter::admit(&limiter, address))
            .collect();
        assert_eq!(held.len(), MAX_OF_ONE_ADDRESS + 1, "a trusted proxy has no limit");
    }
}
