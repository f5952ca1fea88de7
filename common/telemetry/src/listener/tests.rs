//! Tests over real TCP.

use super::*;
use crate::MessageKind;
use std::net::SocketAddr;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    task::JoinHandle,
};

struct Served {
    address: SocketAddr,
    metrics: Arc<Metrics>,
    readiness: Readiness,
    cancelled: CancellationToken,
    serving: JoinHandle<()>,
}

impl Served {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let metrics = Arc::new(Metrics::recording());
        let (readiness, cancelled) = (Readiness::new(), CancellationToken::new());
        let serving = serve(listener, Arc::clone(&metrics), readiness.clone(), cancelled.clone());
        Self { address, metrics, readiness, cancelled, serving: tokio::spawn(serving) }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Status line with headers, and body, of the response before the connection is closed.
    async fn ask(&self, request: &str) -> (String, String) {
        let mut stream = self.connect().await;
        stream.write_all(format!("{request}\r\nHost: juror\r\n\r\n").as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
    }

    async fn end(self) {
        self.cancelled.cancel();
        self.serving.await.unwrap();
    }
}

#[tokio::test]
async fn metrics_use_the_prometheus_text_format() {
    let served = Served::start().await;
    served.metrics.redelivered(MessageKind::Job);
    let (head, body) = served.ask("GET /metrics HTTP/1.1").await;
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    assert!(head.contains("content-type: text/plain; version=0.0.4"), "{head}");
    assert!(body.contains("\njuror_redeliveries_total{message=\"job\"} 1\n"), "{body}");
    assert!(
        body.contains("# TYPE juror_jobs_in_progress gauge\njuror_jobs_in_progress 0\n"),
        "{body}"
    );
    served.end().await;
}

#[tokio::test]
async fn readiness_lists_unmet_conditions_and_health_requires_none() {
    let served = Served::start().await;
    let (broker, redis) = (served.readiness.require("broker"), served.readiness.require("redis"));
    let (head, body) = served.ask("GET /readyz HTTP/1.1").await;
    assert!(head.starts_with("HTTP/1.1 503 "), "{head}");
    assert_eq!(body, "broker\nredis\n");
    let (head, _) = served.ask("GET /healthz HTTP/1.1").await;
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    broker.set(true);
    assert_eq!(served.ask("GET /readyz HTTP/1.1").await.1, "redis\n");
    redis.set(true);
    let (head, _) = served.ask("GET /readyz HTTP/1.0").await;
    assert!(head.starts_with("HTTP/1.0 200 "), "{head}");
    served.end().await;
}

#[tokio::test]
async fn unknown_paths_are_404_and_writes_are_refused() {
    let served = Served::start().await;
    for (request, status) in [
        ("GET / HTTP/1.1", "404"),
        ("GET /metrics/ HTTP/1.1", "404"),
        ("POST /nowhere HTTP/1.1", "404"),
        ("POST /metrics HTTP/1.1", "405"),
        ("DELETE /healthz HTTP/1.1", "405"),
        ("GET /metrics?name=juror HTTP/1.1", "200"),
        ("HEAD /readyz HTTP/1.1", "200"),
        ("nonsense", "400"),
    ] {
        let (head, _) = served.ask(request).await;
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{request}: {head}");
    }
    let (head, _) = served.ask("POST /readyz HTTP/1.1").await;
    assert!(head.contains("allow: GET, HEAD"), "{head}");
    served.end().await;
}

#[tokio::test]
async fn silent_client_does_not_delay_shutdown() {
    let served = Served::start().await;
    let mut silent = Vec::new();
    for _ in 0..MAX_CONNECTIONS {
        silent.push(served.connect().await);
    }
    // One more connection waits for a permit; it is served once another ends.
    let asking = served.ask("GET /healthz HTTP/1.1");
    let leaving = async {
        tokio::task::yield_now().await;
        drop(silent.pop());
    };
    let ((head, _), ()) = tokio::join!(asking, leaving);
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    served.end().await;
    for mut stream in silent {
        let left = stream.read(&mut [0; 1]).await;
        assert!(matches!(left, Ok(0) | Err(_)), "{left:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn silent_client_is_disconnected_after_a_timeout() {
    let served = Served::start().await;
    let mut slow = served.connect().await;
    slow.write_all(b"GET /metrics HTT").await.unwrap();
    // With the clock paused, time advances once all tasks wait.
    let left = slow.read(&mut [0; 1]).await;
    assert!(matches!(left, Ok(0) | Err(_)), "{left:?}");
    served.end().await;
}
