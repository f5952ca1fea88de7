//! HTTP server of a role: `/metrics`, `/healthz` and `/readyz`.

use super::{Metrics, Readiness};
use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::{convert::Infallible, sync::Arc, time::Duration};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::{sleep, timeout},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Maximum number of concurrent connections; further ones wait in the system's backlog.
const MAX_CONNECTIONS: usize = 16;
/// Time limit of a connection, with its single response.
const MAX_CONNECTION: Duration = Duration::from_secs(10);
/// The text format of Prometheus.
const METRICS_TYPE: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4");
const PLAIN_TYPE: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// Serves on `listener` until the token is cancelled, then aborts open connections and returns when
/// all are closed.
///
/// `GET /metrics` returns the metrics in Prometheus's text format; `GET /healthz` is 200 while the
/// process is alive; `GET /readyz` is 200 when every condition is met, or 503 with the names of the
/// unmet ones, one per line.
pub async fn serve(
    listener: TcpListener,
    metrics: Arc<Metrics>,
    readiness: Readiness,
    cancelled: CancellationToken,
) {
    let endpoints = HealthEndpoints { metrics, readiness };
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let connections = TaskTracker::new();
    let accepting = async {
        // The semaphore is never closed.
        while let Ok(place) = Arc::clone(&places).acquire_owned().await {
            let (stream, endpoints, cancelled) =
                (accept(&listener).await, endpoints.clone(), cancelled.clone());
            connections.spawn(async move {
                let _place = place;
                let served = timeout(MAX_CONNECTION, endpoints.serve(stream));
                // A slow client is disconnected.
                let _ = cancelled.run_until_cancelled(served).await;
            });
        }
    };
    cancelled.run_until_cancelled(accepting).await;
    connections.close();
    connections.wait().await;
}

#[derive(Clone)]
struct HealthEndpoints {
    metrics: Arc<Metrics>,
    readiness: Readiness,
}

impl HealthEndpoints {
    async fn serve(self, stream: TcpStream) {
        let service = service_fn(|request| {
            let response = self.respond(&request);
            async { Ok::<_, Infallible>(response) }
        });
        let served = http1::Builder::new()
            .timer(TokioTimer::new())
            .keep_alive(false)
            .serve_connection(TokioIo::new(stream), service)
            .await;
        if let Err(error) = served {
            tracing::debug!(%error, "a metrics or health request ended early");
        }
    }

    fn respond(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        let path = request.uri().path();
        if !["/metrics", "/healthz", "/readyz"].contains(&path) {
            let problem = "not found; use /metrics, /healthz or /readyz\n";
            return plain(StatusCode::NOT_FOUND, problem);
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let mut refusal =
                plain(StatusCode::METHOD_NOT_ALLOWED, "method not allowed; use GET\n");
            refusal.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return refusal;
        }
        match path {
            "/metrics" => respond(StatusCode::OK, METRICS_TYPE, self.metrics.render()),
            "/healthz" => plain(StatusCode::OK, "alive\n"),
            _ => match self.readiness.unmet().as_slice() {
                [] => plain(StatusCode::OK, "ready\n"),
                unmet => plain(StatusCode::SERVICE_UNAVAILABLE, unmet.join("\n") + "\n"),
            },
        }
    }
}

async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) => {
                tracing::warn!(%error, "accepting a connection to the metrics and health server failed");
                // Usually too many open files: others must be closed first.
                sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

fn plain(status: StatusCode, text: impl Into<Bytes>) -> Response<Full<Bytes>> {
    respond(status, PLAIN_TYPE, text)
}

fn respond(status: StatusCode, kind: HeaderValue, text: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(text.into()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, kind);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests;
