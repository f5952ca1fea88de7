//! HTTP client that shows the received bytes, complete or not.

use juror_simulator::{SimulatorConfig, SimulatorError, Stats, serve};
use juror_types::shutdown::Shutdown;
use serde_json::{Value, json};
use std::{collections::HashMap, net::SocketAddr};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// A simulator on a port of its own.
pub struct RunningSimulator {
    pub address: SocketAddr,
    pub shutdown: Shutdown,
    task: JoinHandle<Result<Stats, SimulatorError>>,
}

impl RunningSimulator {
    pub async fn start(config: SimulatorConfig) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shutdown = Shutdown::new();
        let task = tokio::spawn(serve(listener, config, shutdown.clone()));
        Self { address, shutdown, task }
    }

    pub async fn stop(self) -> Stats {
        self.shutdown.escalate();
        self.task.await.unwrap().unwrap()
    }

    pub async fn complete(&self, request: &Value) -> WireResponse {
        self.send("POST", "/v1/chat/completions", "", &request.to_string()).await
    }

    pub async fn get(&self, path: &str, headers: &str) -> WireResponse {
        self.send("GET", path, headers, "").await
    }

    pub async fn send(&self, method: &str, path: &str, headers: &str, body: &str) -> WireResponse {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(body.as_bytes()).await.unwrap();
        let mut received = Vec::new();
        // A reset counts as an end: the bytes before it count.
        let _ = stream.read_to_end(&mut received).await;
        WireResponse::from_text(&String::from_utf8(received).unwrap())
    }
}

/// Response of the simulator.
#[derive(Debug)]
pub struct WireResponse {
    /// Status; 0 without a response.
    pub status: u16,
    pub headers: HashMap<String, String>,
    pub body: String,
}

impl WireResponse {
    fn from_text(received: &str) -> Self {
        let (head, body) = received.split_once("\r\n\r\n").unwrap_or((received, ""));
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).unwrap_or("0");
        let headers = lines.filter_map(|line| line.split_once(": "));
        Self {
            status: status.parse().unwrap(),
            headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            body: body.to_owned(),
        }
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub fn content(&self) -> String {
        self.json()["choices"][0]["message"]["content"].as_str().unwrap().to_owned()
    }

    pub fn is_whole(&self) -> bool {
        self.headers["content-length"].parse() == Ok(self.body.len())
    }
}

/// Header of a PNG file, identified by its size.
pub fn png(width: u32, height: u32) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    file.extend(width.to_be_bytes());
    file.extend(height.to_be_bytes());
    file.extend([8, 6, 0, 0, 0]);
    file
}

/// Chat request with these images and this text and the schema of the semantic rubric.
pub fn chat_request(images: &[Vec<u8>], text: &str) -> Value {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    let mut parts = vec![json!({"type": "text", "text": text})];
    for image in images {
        let url = format!("data:image/png;base64,{}", STANDARD.encode(image));
        parts.push(json!({"type": "image_url", "image_url": {"url": url, "detail": "high"}}));
    }
    let score = json!({"type": "integer", "minimum": 0, "maximum": 10});
    let list = json!({"type": "array", "items": {"type": "string"}});
    let schema = json!({"type": "object", "properties": {
        "scores": {"type": "object", "properties": {
            "visual_similarity": score, "layout_accuracy": score,
        }},
        "issues": list, "strengths": list,
    }});
    json!({
        "model": "gpt-4o",
        "messages": [
            {"role": "system", "content": "You are strict."},
            {"role": "user", "content": parts},
        ],
        "max_tokens": 500,
        "response_format": {"type": "json_schema", "json_schema": {
            "name": "verdict", "strict": true, "schema": schema,
        }},
    })
}
