//! Connections, and the end of them.

use crate::{
    config::{SimulatorConfig, SimulatorError},
    respond::Simulator,
    stats::Stats,
};
use futures_util::future::BoxFuture;
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use juror_types::shutdown::Shutdown;
use std::{pin::pin, sync::Arc, time::Duration};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::TaskTracker;

/// Serves `listener` until `shutdown`: a graceful stop completes requests in flight and ends
/// hanging ones, a hard stop drops connections. Returns the counters when every connection is
/// closed.
pub fn serve(
    listener: TcpListener,
    config: SimulatorConfig,
    shutdown: Shutdown,
) -> BoxFuture<'static, Result<Stats, SimulatorError>> {
    Box::pin(async move {
        config.check()?;
        let simulator = Arc::new(Simulator::new(config));
        let connections = TaskTracker::new();
        while let Some(stream) = accept(&listener, &shutdown).await {
            connections.spawn(connection(stream, simulator.clone(), shutdown.clone()));
        }
        drop(listener);
        connections.close();
        connections.wait().await;
        Ok(simulator.counter.stats())
    })
}

/// The next connection; `None` when there shall be no more.
async fn accept(listener: &TcpListener, shutdown: &Shutdown) -> Option<TcpStream> {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = shutdown.drain.cancelled() => return None,
        };
        match accepted {
            Ok((stream, _)) => return Some(stream),
            Err(error) => {
                tracing::warn!(%error, "accepting a connection to the simulator failed");
                // Usually too many open files: others must be closed first.
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
}

async fn connection(stream: TcpStream, simulator: Arc<Simulator>, shutdown: Shutdown) {
    // Responses are small: waiting to fill a packet would only add latency.
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| simulator.respond(request, &shutdown));
    let mut served = pin!(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    let result = tokio::select! {
        result = served.as_mut() => result,
        () = shutdown.now.cancelled() => return,
        () = shutdown.drain.cancelled() => {
            served.as_mut().graceful_shutdown();
            tokio::select! {
                result = served.as_mut() => result,
                () = shutdown.now.cancelled() => return,
            }
        }
    };
    if let Err(error) = result {
        tracing::debug!(%error, "a connection to the simulator ended early");
    }
}
