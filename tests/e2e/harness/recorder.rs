//! Server with prepared responses that records its requests.

use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread::JoinHandle,
};

/// Status and body of a response.
pub type Prepared = (u16, Value);

pub struct Recorder {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Value>>>,
    serving: Option<JoinHandle<()>>,
}

impl Recorder {
    /// Starts a server with these responses in turn; the last one repeats.
    pub fn start(answers: Vec<Prepared>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        let serving = std::thread::spawn(move || {
            while let Some(question) =
                serve_request(&mut listener.accept().unwrap().0, &answers, &kept)
            {
                kept.lock().unwrap().push(question);
            }
        });
        Self { address, requests, serving: Some(serving) }
    }

    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Bodies of the requests so far.
    pub fn requests(&self) -> Vec<Value> {
        self.requests.lock().unwrap().clone()
    }
}

/// Serves one request; `None` for the last connection, which sends none.
fn serve_request(
    stream: &mut TcpStream,
    answers: &[Prepared],
    requests: &Mutex<Vec<Value>>,
) -> Option<Value> {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap() == 0 {
            return None;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let count = requests.lock().unwrap().len();
    let (status, answer) = &answers[count.min(answers.len() - 1)];
    let answer = answer.to_string();
    let head = format!(
        "HTTP/1.1 {status} Story\r\ncontent-type: application/json\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n",
        answer.len()
    );
    stream.write_all(&[head.as_bytes(), answer.as_bytes()].concat()).unwrap();
    Some(serde_json::from_slice(&body).unwrap())
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // A connection without a request ends the server.
        let _ = TcpStream::connect(self.address);
        let _ = self.serving.take().map(JoinHandle::join);
    }
}

/// Chat completion with this content.
pub fn completion(content: &str, input_tokens: u64, output_tokens: u64) -> Prepared {
    let answer = json!({
        "id": "1", "object": "chat.completion", "model": "gpt-4o-2024-08-06",
        "system_fingerprint": "fp_story",
        "choices": [{"index": 0, "finish_reason": "stop",
                     "message": {"role": "assistant", "content": content}}],
        "usage": {"prompt_tokens": input_tokens, "completion_tokens": output_tokens,
                  "total_tokens": input_tokens + output_tokens},
    });
    (200, answer)
}

/// Verdict of the rubric `semantic` with equal scores.
pub fn verdict(score: u64) -> String {
    semantic_verdict([score; 5], &[], &[])
}

/// Verdict of the rubric `semantic`, with a finding for each issue.
pub fn semantic_verdict(scores: [u64; 5], issues: &[&str], strengths: &[&str]) -> String {
    let [visual, token, variant, feature, layout] =
        scores.map(|score| json!({"why": "as found", "score": score}));
    let finding = |statement: &&str| {
        json!({
            "kind": "wrong_spacing", "element": "button", "where": "the button",
            "criteria": ["token_adherence"], "shown": "16px", "found": "12px",
            "severity": "minor", "statement": statement,
        })
    };
    json!({
        "findings": issues.iter().map(finding).collect::<Vec<_>>(),
        "suspected_instructions": [],
        "scores": {"visual_similarity": visual, "token_adherence": token,
                   "variant_accuracy": variant, "feature_completeness": feature,
                   "layout_accuracy": layout},
        "strengths": strengths,
    })
    .to_string()
}
