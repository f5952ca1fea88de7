//! Messages of the browser's debugging protocol over a pair of pipes: JSON that ends with a zero
//! byte.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    process::{ChildStdin, ChildStdout},
};

/// Maximum length of a message of the browser: a picture of 4096 x 4096 pixels of noise takes 90 MB.
const MAX_MESSAGE_BYTES: usize = 256 << 20;

/// The pipes to and from a browser.
#[derive(Debug)]
pub(crate) struct DevtoolsPipe {
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    received: Vec<u8>,
    last_id: u64,
}

/// A message of the browser: the reply to a command, or an event.
#[derive(Debug, Deserialize)]
pub(crate) struct DevtoolsMessage {
    /// The command that this replies to; `None` for an event.
    pub id: Option<u64>,
    #[serde(default)]
    pub method: String,
    #[serde(default)]
    pub params: Value,
    #[serde(default)]
    pub result: Value,
    pub error: Option<DevtoolsError>,
    #[serde(rename = "sessionId")]
    pub session: Option<String>,
}

/// The refusal of a command.
#[derive(Debug, Deserialize)]
pub(crate) struct DevtoolsError {
    pub message: String,
}

impl DevtoolsPipe {
    pub fn new(to: ChildStdin, from: ChildStdout) -> Self {
        Self { to, from: BufReader::new(from), received: Vec::new(), last_id: 0 }
    }

    /// Sends a command to a session, or to the browser itself; returns its number.
    pub async fn send(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: Value,
    ) -> io::Result<u64> {
        self.last_id += 1;
        let command = DevtoolsCommand { id: self.last_id, method, params, session };
        let mut bytes = serde_json::to_vec(&command)?;
        bytes.push(0);
        self.to.write_all(&bytes).await?;
        Ok(self.last_id)
    }

    /// Receives the next message. A partial message is kept if the future is dropped.
    pub async fn receive(&mut self) -> io::Result<DevtoolsMessage> {
        let remaining = MAX_MESSAGE_BYTES.saturating_sub(self.received.len());
        let mut bounded = (&mut self.from).take(remaining as u64);
        bounded.read_until(0, &mut self.received).await?;
        if self.received.len() >= MAX_MESSAGE_BYTES {
            return Err(io::Error::other("it sent a message of more than 256 MB"));
        }
        if self.received.pop() != Some(0) {
            self.received.clear();
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let message = serde_json::from_slice(&self.received).map_err(io::Error::from);
        self.received.clear();
        message
    }
}

#[derive(Debug, Serialize)]
struct DevtoolsCommand<'call> {
    id: u64,
    method: &'call str,
    params: Value,
    #[serde(rename = "sessionId", skip_serializing_if = "Option::is_none")]
    session: Option<&'call str>,
}
