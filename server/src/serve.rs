//! The HTTP server.

use crate::{
    access::{Peer, TrustedProxies},
    app_state::AppState,
};
use axum::{Router, http::Request};
use futures_util::future::BoxFuture;
use hyper::{body::Incoming, server::conn::http1};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use parking_lot::Mutex;
use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    sync::Arc,
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

/// Maximum number of connections; further ones wait in the listener's backlog.
const MAX_CONNECTIONS: usize = 1_024;
/// Maximum number of connections of an address. Loopback addresses and trusted proxies, which may
/// represent many clients, are not limited.
const MAX_PER_ADDRESS: usize = 256;
/// Time limit for receiving a request's head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(15);
/// Time without progress after which a write fails.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// Time limit of requests in progress when the server stops.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// Serves requests until `stop` is cancelled, then finishes those in progress within
/// `SHUTDOWN_TIMEOUT`, and returns when every connection and watcher has ended.
pub fn serve(
    listener: TcpListener,
    site: AppState,
    router: Router,
    proxies: TrustedProxies,
    stop: CancellationToken,
) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let connections = TaskTracker::new();
        let abort = CancellationToken::new();
        let limiter = Arc::new(ConnectionLimiter { proxies, ..ConnectionLimiter::default() });
        let accepting = async {
            // The semaphore is never closed.
            while let Ok(slot) = Arc::clone(&slots).acquire_owned().await {
                let (stream, peer) = accept(&listener).await;
                // Dropping the stream closes a connection above the limit.
                let Some(permit) = ConnectionLimiter::admit(&limiter, peer.ip()) else { continue };
                let (router, stop, abort) = (router.clone(), stop.clone(), abort.clone());
                connections.spawn(async move {
                    let _held = (slot, permit);
                    abort.run_until_cancelled(connection(stream, peer, router, stop)).await;
                });
            }
        };
        stop.run_until_cancelled(accepting).await;
        connections.close();
        tokio::select! {
            () = connections.wait() => {}
            () = sleep(SHUTDOWN_TIMEOUT) => abort.cancel(),
        }
        connections.wait().await;
        site.live.ended().await;
    })
}

/// Limiter of connections per address.
#[derive(Debug, Default)]
struct ConnectionLimiter {
    counts: Mutex<HashMap<IpAddr, usize>>,
    proxies: TrustedProxies,
}

/// Permit of a connection, released on drop.
struct ConnectionPermit {
    limiter: Arc<ConnectionLimiter>,
    address: IpAddr,
}

impl ConnectionLimiter {
    /// Counts a connection; `None` if its address has reached the limit.
    fn admit(limiter: &Arc<Self>, address: IpAddr) -> Option<ConnectionPermit> {
        let address = address.to_canonical();
        let mut counts = limiter.counts.lock();
        let count = counts.entry(address).or_insert(0);
        let is_limited = !address.is_loopback() && !limiter.proxies.contains(address);
        if *count >= MAX_PER_ADDRESS && is_limited {
            return None;
        }
        *count += 1;
        Some(ConnectionPermit { limiter: Arc::clone(limiter), address })
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let mut counts = self.limiter.counts.lock();
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
    stream.set_write_timeout(Some(WRITE_TIMEOUT));
    let service = router.map_request(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Peer(peer));
        request
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
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
                // Usually too many open files: other connections must close first.
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
    async fn a_stalled_reader_is_disconnected() {
        let (mut reader, stream) = duplex(1 << 10);
        let router = Router::new().route("/", get(|| async { "x".repeat(1 << 20) }));
        let peer = SocketAddr::from(([127, 0, 0, 1], 1));
        let serving = connection(stream, peer, router, CancellationToken::new());
        reader.write_all(b"GET / HTTP/1.1\r\nhost: juror\r\n\r\n").await.unwrap();
        timeout(Duration::from_secs(3_600), serving).await.unwrap();
        drop(reader);
    }

    #[test]
    fn connections_per_address_are_limited_except_for_this_machine() {
        let limiter = Arc::new(ConnectionLimiter::default());
        let admit = |address: &str| ConnectionLimiter::admit(&limiter, address.parse().unwrap());
        let mut held: Vec<_> = (0..MAX_PER_ADDRESS).map(|_| admit("192.0.2.7").unwrap()).collect();
        assert!(admit("192.0.2.7").is_none() && admit("::ffff:192.0.2.7").is_none());
        assert!(admit("192.0.2.8").is_some());
        let own: Vec<_> = (0..=MAX_PER_ADDRESS).map(|_| admit("127.0.0.1").unwrap()).collect();
        held.pop();
        held.push(admit("192.0.2.7").unwrap());
        assert!(admit("192.0.2.7").is_none());
        drop((held, own));
        assert!(limiter.counts.lock().is_empty(), "no address is counted");
        let proxies = TrustedProxies::parse(&["192.0.2.0/24".to_owned()]).unwrap();
        let limiter = Arc::new(ConnectionLimiter { proxies, ..ConnectionLimiter::default() });
        let address = "192.0.2.7".parse().unwrap();
        let held: Vec<_> = (0..=MAX_PER_ADDRESS)
            .map_while(|_| ConnectionLimiter::admit(&limiter, address))
            .collect();
        assert_eq!(held.len(), MAX_PER_ADDRESS + 1, "a trusted proxy has no limit");
    }
}
