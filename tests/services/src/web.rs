//! Web server with responses defined by the test.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

/// Serves one connection after the other, each with one request, until it is dropped.
pub struct WebServer {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<WebRequest>>>,
    ending: Arc<AtomicBool>,
    serving: Option<JoinHandle<()>>,
}

/// Received request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebRequest {
    /// `GET`, `PUT` and so on.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The first header of each name, in small letters.
    pub headers: Vec<(String, String)>,
}

/// Reaction to a request.
pub enum WebResponse {
    /// These bytes, from the status line on; then the connection is closed.
    Bytes(Vec<u8>),
    /// No response; the connection stays open until the server ends.
    Silence,
}

impl WebResponse {
    /// Complete response with a status, as in `404 Not Found`, with these headers and this body.
    pub fn status(status: &str, headers: &[&str], body: &[u8]) -> Self {
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n"
        );
        Self::Bytes([head.as_bytes(), body].concat())
    }

    /// A file.
    pub fn file(body: &[u8]) -> Self {
        Self::status("200 OK", &[], body)
    }

    /// A redirect.
    pub fn redirect(location: &str) -> Self {
        Self::status("302 Found", &[&format!("location: {location}")], b"")
    }
}

impl WebServer {
    /// Listens on a free port of 127.0.0.1.
    pub fn start(answer: impl FnMut(&WebRequest) -> WebResponse + Send + 'static) -> Self {
        Self::start_at("127.0.0.1:0", answer)
    }

    /// Listens on this address; port 0 means a free one.
    pub fn start_at(
        address: &str,
        mut answer: impl FnMut(&WebRequest) -> WebResponse + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).expect("a free port");
        let address = listener.local_addr().expect("its address");
        let requests = Arc::new(Mutex::new(Vec::new()));
        let ending = Arc::new(AtomicBool::new(false));
        let (seen, end) = (Arc::clone(&requests), Arc::clone(&ending));
        let serving = std::thread::spawn(move || {
            let mut silent = Vec::new();
            for stream in listener.incoming() {
                if end.load(Ordering::SeqCst) {
                    return;
                }
                let Some((request, mut stream)) = stream.ok().and_then(read) else { continue };
                let answer = answer(&request);
                seen.lock().expect("no panic while held").push(request);
                match answer {
                    // The client may have disconnected.
                    WebResponse::Bytes(bytes) => drop(stream.write_all(&bytes)),
                    WebResponse::Silence => silent.push(stream),
                }
            }
        });
        Self { address, requests, ending, serving: Some(serving) }
    }

    /// Address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<WebRequest> {
        self.requests.lock().expect("no panic while held").clone()
    }
}

/// Reads a request with its body, which is dropped.
fn read(stream: TcpStream) -> Option<(WebRequest, TcpStream)> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut headers = Vec::new();
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    let mut body = std::io::Read::take(&mut reader, length);
    std::io::copy(&mut body, &mut std::io::sink()).ok()?;
    Some((WebRequest { method, path, headers }, reader.into_inner()))
}

impl Drop for WebServer {
    fn drop(&mut self) {
        self.ending.store(true, Ordering::SeqCst);
        // A last connection ends the accept loop.
        drop(TcpStream::connect(self.address));
        if let Some(serving) = self.serving.take() {
            assert!(serving.join().is_ok() || std::thread::panicking(), "the server broke off");
        }
    }
}
