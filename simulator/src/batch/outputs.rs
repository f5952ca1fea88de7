//! Rows of an input file, and what becomes of them.

use super::{BatchFault, BatchSettings};
use crate::random::{self, Random};
use bytes::Bytes;
use juror_types::usage::Usage;
use serde::Deserialize;
use serde_json::{Value, json};
use std::{collections::HashSet, ops::Range};

/// Interface to run and bill single rows.
pub(crate) trait RowAnswerer {
    /// Input tokens of a row's request; zero for an invalid one.
    fn input_tokens(&self, body: &[u8]) -> u64;

    /// The reply to a row's request, which is billed unless it is an error.
    fn reply(&self, body: &[u8]) -> RowReply;
}

/// Result of a row.
pub(crate) struct RowReply {
    pub(crate) status: u16,
    pub(crate) body: Value,
    /// Billed usage; nothing for an error.
    pub(crate) usage: Usage,
}

/// A row of an input file that has been checked.
#[derive(Clone, Debug)]
pub(super) struct InputRow {
    pub(super) custom_id: String,
    /// Range of the row in the file.
    line: Range<usize>,
}

/// An error of validation, by line.
pub(super) struct InvalidRow {
    pub(super) line: usize,
    pub(super) code: &'static str,
    pub(super) message: String,
}

/// Results of a batch.
#[derive(Debug, Default)]
pub(super) struct Outputs {
    pub(super) output: Vec<u8>,
    pub(super) errors: Vec<u8>,
    pub(super) completed: u64,
    pub(super) failed: u64,
    pub(super) has_expired: bool,
    pub(super) usage: Usage,
}

impl Outputs {
    /// Runs rows. `batch` makes the random choices of this batch independent of others.
    pub(super) fn run(
        &mut self,
        rows: &[InputRow],
        content: &Bytes,
        batch: u64,
        settings: &BatchSettings,
        answerer: &impl RowAnswerer,
    ) {
        let rows: Vec<&InputRow> = match settings.has(BatchFault::Shuffled) {
            true => rows.iter().rev().collect(),
            false => rows.iter().collect(),
        };
        for (index, row) in rows.into_iter().enumerate() {
            let id = format!("batch_req_simulated{batch:06}{index:06}");
            let seed = random::mix(u64::from(crc32fast::hash(row.custom_id.as_bytes())), batch);
            let meets = |fault: BatchFault| {
                Random::new(random::mix(seed, fault as u64)).unit() < settings.share(fault)
            };
            if self.add_fault_error(&id, &row.custom_id, meets) {
                continue;
            }
            let line = content.get(row.line.clone()).unwrap_or_default();
            let body = serde_json::from_slice::<WireRow>(line).map(|row| row.body.to_string());
            let answer = answerer.reply(body.unwrap_or_default().as_bytes());
            let response =
                json!({"status_code": answer.status, "request_id": id, "body": answer.body});
            if answer.status != 200 {
                self.failed += 1;
                self.error(&id, &row.custom_id, &response, &json!(null));
                continue;
            }
            self.completed += 1;
            self.usage += answer.usage;
            let copies = match (meets(BatchFault::Missing), meets(BatchFault::Doubled)) {
                (true, _) => 0,
                (false, true) => 2,
                (false, false) => 1,
            };
            let other = format!("other-{}", row.custom_id);
            let named = if meets(BatchFault::OtherIds) { &other } else { &row.custom_id };
            for _ in 0..copies {
                push(&mut self.output, &id, named, &response, &json!(null));
            }
        }
    }

    /// Adds the error of a row that a fault affects; returns true if there is one.
    fn add_fault_error(
        &mut self,
        id: &str,
        custom_id: &str,
        meets: impl Fn(BatchFault) -> bool,
    ) -> bool {
        if meets(BatchFault::Expired) {
            self.has_expired = true;
            let message =
                "This request could not be executed before the completion window expired.";
            let error = json!({"code": "batch_expired", "message": message});
            self.error(id, custom_id, &json!(null), &error);
        } else if meets(BatchFault::RefusedRow) {
            self.failed += 1;
            let error = json!({"code": "server_error", "message": "the server had an error"});
            self.error(id, custom_id, &json!(null), &error);
        } else if meets(BatchFault::LimitedRow) {
            self.failed += 1;
            let message = "Enqueued token limit reached for this model.";
            let error = json!({"code": "token_limit_exceeded", "message": message});
            self.error(id, custom_id, &json!(null), &error);
        } else if meets(BatchFault::FailedRow) {
            self.failed += 1;
            let error = json!({"message": "the server had an error", "type": "server_error",
                               "param": null, "code": "server_error"});
            let response = json!({"status_code": 500, "request_id": id, "body": {"error": error}});
            self.error(id, custom_id, &response, &json!(null));
        } else {
            return false;
        }
        true
    }

    fn error(&mut self, id: &str, custom_id: &str, response: &Value, error: &Value) {
        push(&mut self.errors, id, custom_id, response, error);
    }
}

/// The most rows of one batch.
const MAX_ROWS: usize = 50_000;

/// Reads and checks an input file; returns its rows and their input tokens in sum.
pub(super) fn check(
    content: &Bytes,
    endpoint: &str,
    answerer: &impl RowAnswerer,
) -> Result<(Vec<InputRow>, u64), InvalidRow> {
    let (mut rows, mut tokens, mut ids) = (Vec::new(), 0_u64, HashSet::new());
    let mut end = 0;
    for (index, line) in content.split(|byte| *byte == b'\n').enumerate() {
        let begin = end;
        end += line.len() + 1;
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let invalid = |code, message: String| InvalidRow { line: index + 1, code, message };
        let row: WireRow = serde_json::from_slice(line).map_err(|error| {
            invalid(
                "invalid_json_line",
                format!("This line is not parseable as valid JSON: {error}"),
            )
        })?;
        if row.method != "POST" || row.url != endpoint {
            let message = format!("The URL provided for this request does not match {endpoint}.");
            return Err(invalid("mismatched_endpoint", message));
        }
        if !ids.insert(row.custom_id.clone()) {
            let message = "The custom_id for this request is a duplicate of another request.";
            return Err(invalid("duplicate_custom_id", message.to_owned()));
        }
        let body = row.body.to_string();
        // An invalid request becomes an error of its row.
        tokens += answerer.input_tokens(body.as_bytes());
        rows.push(InputRow { custom_id: row.custom_id, line: begin..begin + line.len() });
    }
    match rows.len() {
        0 => Err(InvalidRow {
            line: 1,
            code: "empty_file",
            message: "The input file is empty.".to_owned(),
        }),
        count if count > MAX_ROWS => Err(InvalidRow {
            line: MAX_ROWS + 1,
            code: "too_many_tasks",
            message: format!("The batch contains too many tasks. The maximum is {MAX_ROWS}."),
        }),
        _ => Ok((rows, tokens)),
    }
}

#[derive(Deserialize)]
struct WireRow {
    custom_id: String,
    method: String,
    url: String,
    body: Value,
}

fn push(file: &mut Vec<u8>, id: &str, custom_id: &str, response: &Value, error: &Value) {
    let row = json!({"id": id, "custom_id": custom_id, "response": response, "error": error});
    file.extend_from_slice(row.to_string().as_bytes());
    file.push(b'\n');
}
