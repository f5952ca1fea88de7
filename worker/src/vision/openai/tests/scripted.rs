//! For tests: a server over real sockets that plays one exchange per connection.

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

/// The server's actions once it has received a request.
pub(super) enum Exchange {
    /// Writes this and closes.
    Respond(String),
    /// Closes without a response.
    Close,
    /// Reads the head only and drops the connection with the rest unread.
    Reset,
    /// Writes this and then stalls until the client disconnects. The clock is paused, so the
    /// client's timeout is reached immediately.
    Stall(String),
    /// Writes nothing, and cancels this token.
    Cancel(CancellationToken),
}

/// A request as it came in.
pub(super) struct ReceivedRequest {
    /// Request line and headers, in lower case.
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

/// The server; it ends after its last exchange.
pub(super) struct ScriptedServer {
    pub(super) base_url: String,
    server_task: JoinHandle<Vec<ReceivedRequest>>,
}

impl ScriptedServer {
    pub(super) async fn start(exchanges: Vec<Exchange>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let server_task = tokio::spawn(async move {
            let mut requests = Vec::new();
            for exchange in exchanges {
                let (stream, _) = listener.accept().await.unwrap();
                requests.push(perform(stream, exchange).await);
            }
            requests
        });
        Self { base_url, server_task }
    }

    /// The requests, once every exchange is over.
    pub(super) async fn requests(self) -> Vec<ReceivedRequest> {
        self.server_task.await.unwrap()
    }
}

/// A response with a length and these header lines.
pub(super) fn response(status: u16, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status} x\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}"
    )
}

async fn perform(mut stream: TcpStream, exchange: Exchange) -> ReceivedRequest {
    let head = read_head(&mut stream).await;
    if matches!(exchange, Exchange::Reset) {
        return ReceivedRequest { head, body: Vec::new() };
    }
    let body = read_body(&mut stream, &head).await;
    match exchange {
        Exchange::Respond(text) => {
            // A client that has read enough may disconnect before the end.
            let _ = stream.write_all(text.as_bytes()).await;
            let _ = stream.shutdown().await;
        }
        Exchange::Close | Exchange::Reset => {}
        Exchange::Stall(text) => {
            stream.write_all(text.as_bytes()).await.unwrap();
            tokio::time::pause();
            wait_for_disconnect(&mut stream).await;
        }
        Exchange::Cancel(token) => {
            token.cancel();
            wait_for_disconnect(&mut stream).await;
        }
    }
    ReceivedRequest { head, body }
}

async fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(head).unwrap().to_lowercase()
}

async fn read_body(stream: &mut TcpStream, head: &str) -> Vec<u8> {
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.unwrap();
    body
}

async fn wait_for_disconnect(stream: &mut TcpStream) {
    let mut rest = [0; 64];
    while matches!(stream.read(&mut rest).await, Ok(count) if count > 0) {}
}
