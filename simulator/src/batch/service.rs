//! The addresses of files and batches.

use super::{
    BatchFault, BatchSettings,
    file_store::FileStore,
    lifecycle::{NewBatch, SimulatedBatch},
    multipart,
    outputs::{self, InvalidRow, RowAnswerer},
};
use crate::refusal::{INVALID, RATE_LIMIT, Refusal};
use bytes::Bytes;
use hyper::Method;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Number of lists in which a batch is missing, with [`BatchFault::LateListing`].
const UNLISTED: u64 = 2;

/// The files and batches of one account.
#[derive(Debug, Default)]
pub(crate) struct BatchService {
    state: Mutex<BatchState>,
}

/// Request to files or batches.
pub(crate) struct BatchRequest<'a> {
    pub(crate) method: &'a Method,
    /// Below the base URL, without a slash at its start.
    pub(crate) path: &'a str,
    pub(crate) query: &'a str,
    pub(crate) content_type: &'a str,
    pub(crate) body: Bytes,
}

/// Reply to a request.
pub(crate) enum BatchReply {
    Json(Value),
    /// The content of a file.
    Content(Bytes),
    /// The creation of a batch.
    Created(Value),
    /// The creation of a batch, which its client does not hear of.
    CreatedUnheard,
}

/// Batches on one page of the list, unless the query says otherwise.
const PAGE: usize = 20;

/// Maximum number of batches on a page.
const MAX_PAGE: usize = 100;

/// Pairs of metadata of a batch.
const MAX_METADATA: usize = 16;

impl BatchService {
    /// Responds to a request; `None` if there is no such address.
    pub(crate) fn respond(
        &self,
        request: &BatchRequest<'_>,
        settings: &BatchSettings,
        answerer: &impl RowAnswerer,
    ) -> Result<Option<BatchReply>, Refusal> {
        let path: Vec<&str> = request.path.split('/').collect();
        let mut state = self.state.lock();
        let value = match (request.method.as_str(), path.as_slice()) {
            ("POST", ["files"]) => {
                let form = multipart::read(request.content_type, &request.body);
                let message = "send multipart/form-data with the fields purpose and file";
                let invalid = || Refusal::parameter("file", "invalid_request", message);
                let id = state.files.add(form.ok_or_else(invalid)?);
                state.files.show(&id)?
            }
            ("GET", ["files"]) => state.files.list(),
            ("GET", ["files", id]) => state.files.show(id)?,
            ("GET", ["files", id, "content"]) => {
                let content = state.files.download(id, settings)?;
                return Ok(Some(BatchReply::Content(content)));
            }
            ("DELETE", ["files", id]) => state.files.remove(id)?,
            ("POST", ["batches"]) => {
                return state.create(&request.body, settings, answerer).map(Some);
            }
            ("GET", ["batches"]) => state.list(request.query, settings),
            ("GET", ["batches", id]) => {
                let (batch, files) = state.batch(id)?;
                batch.poll(files, settings, answerer);
                if batch.is_forgotten(settings) {
                    return Err(Refusal::no_such("batch", id));
                }
                batch.to_json(settings)
            }
            ("POST", ["batches", _, "cancel"]) if settings.has(BatchFault::CancelRefused) => {
                let message = "this batch cannot be cancelled";
                return Err(Refusal::new(409, INVALID, "invalid_status", message));
            }
            ("POST", ["batches", id, "cancel"]) => {
                let (batch, files) = state.batch(id)?;
                batch.cancel(files, settings, answerer);
                batch.to_json(settings)
            }
            ("POST", ["end-batches"]) => {
                state.batches.iter_mut().for_each(SimulatedBatch::allow_end);
                json!({"batches": state.batches.len()})
            }
            _ => return Ok(None),
        };
        Ok(Some(BatchReply::Json(value)))
    }
}

#[derive(Debug, Default)]
struct BatchState {
    files: FileStore,
    /// Oldest first.
    batches: Vec<SimulatedBatch>,
    creations: u64,
    /// Number of lists of batches since the last creation.
    lists: u64,
}

#[derive(Deserialize)]
struct Creation {
    input_file_id: String,
    endpoint: String,
    completion_window: String,
    metadata: Option<Map<String, Value>>,
}

impl Creation {
    fn read(body: &[u8]) -> Result<Self, Refusal> {
        let creation: Self = serde_json::from_slice(body).map_err(|error| {
            let message = format!("invalid batch request: {error}");
            Refusal::new(400, INVALID, "invalid_request", message)
        })?;
        if creation.completion_window != "24h" {
            let message = "completion_window must be 24h";
            return Err(Refusal::parameter("completion_window", "invalid_value", message));
        }
        if !creation.endpoint.ends_with("/chat/completions") {
            let message = "batches support only /v1/chat/completions";
            return Err(Refusal::parameter("endpoint", "invalid_value", message));
        }
        let is_invalid = |metadata: &Map<String, Value>| {
            metadata.len() > MAX_METADATA || metadata.values().any(|value| !value.is_string())
        };
        if creation.metadata.as_ref().is_some_and(is_invalid) {
            let message = "metadata takes at most 16 pairs of strings";
            return Err(Refusal::parameter("metadata", "invalid_value", message));
        }
        Ok(creation)
    }
}

impl BatchState {
    fn batch(&mut self, id: &str) -> Result<(&mut SimulatedBatch, &mut FileStore), Refusal> {
        let batch = self.batches.iter_mut().find(|batch| batch.id == id);
        Ok((batch.ok_or_else(|| Refusal::no_such("batch", id))?, &mut self.files))
    }

    fn create(
        &mut self,
        body: &[u8],
        settings: &BatchSettings,
        answerer: &impl RowAnswerer,
    ) -> Result<BatchReply, Refusal> {
        let creation = Creation::read(body)?;
        let content = self.files.content(&creation.input_file_id)?;
        self.creations += 1;
        self.lists = 0;
        let limit = match self.creations {
            1 => BatchFault::CreationLimit,
            _ => BatchFault::LaterCreationLimit,
        };
        if settings.has(limit) {
            let message = "too many batches were created in a minute";
            let refusal = Refusal::new(429, "requests", RATE_LIMIT, message);
            return Err(Refusal { retry_after: Some(Duration::from_millis(20)), ..refusal });
        }
        let batch = self.checked_batch(creation, &content, settings, answerer)?;
        let shown = batch.to_json(settings);
        self.batches.push(batch);
        let is_lost = self.creations == 1 && settings.has(BatchFault::CreationLost);
        if is_lost || settings.has(BatchFault::CreationsLost) {
            return Ok(BatchReply::CreatedUnheard);
        }
        Ok(BatchReply::Created(shown))
    }

    /// A batch of a file's rows; it has failed where they are invalid.
    fn checked_batch(
        &self,
        creation: Creation,
        content: &Bytes,
        settings: &BatchSettings,
        answerer: &impl RowAnswerer,
    ) -> Result<SimulatedBatch, Refusal> {
        let number = self.batches.len() as u64 + 1;
        let Creation { input_file_id: input_file, endpoint, metadata, .. } = creation;
        let checked = outputs::check(content, &endpoint, answerer);
        let metadata = metadata.unwrap_or_default();
        let new = NewBatch { number, endpoint, input_file, metadata };
        let (rows, tokens) = match checked {
            Ok(checked) => checked,
            Err(invalid) => return Ok(SimulatedBatch::failed(new, Vec::new(), &invalid)),
        };
        if settings.has(BatchFault::ValidationFailed) {
            let message = "Invalid type for 'messages': expected an array.".to_owned();
            let invalid = InvalidRow { line: 1, code: "invalid_request", message };
            return Ok(SimulatedBatch::failed(new, rows, &invalid));
        }
        let code = "token_limit_exceeded";
        match self.over_limit(tokens, settings) {
            None => Ok(SimulatedBatch::new(new, rows, tokens)),
            Some(message) if settings.has(BatchFault::LateTokenLimit) => {
                Ok(SimulatedBatch::failed(new, rows, &InvalidRow { line: 0, code, message }))
            }
            Some(message) => Err(Refusal::new(400, INVALID, code, message)),
        }
    }

    /// Error of a batch whose tokens exceed the limit; none within it.
    fn over_limit(&self, tokens: u64, settings: &BatchSettings) -> Option<String> {
        let limit = settings.enqueued_tokens?;
        let under_way = self.batches.iter().filter(|batch| batch.status.is_under_way());
        let enqueued: u64 = under_way.map(|batch| batch.tokens).sum();
        (enqueued + tokens > limit).then(|| {
            format!(
                "Enqueued token limit reached for this model in organization org-simulated. \
                 Limit: {limit} enqueued tokens. Please try again once some in_progress batches \
                 have been completed."
            )
        })
    }

    /// A page of batches, newest first.
    fn list(&mut self, query: &str, settings: &BatchSettings) -> Value {
        self.lists += 1;
        let is_late = settings.has(BatchFault::LateListing) && self.lists <= UNLISTED;
        let parameter = |name: &str| {
            query.split('&').find_map(|pair| pair.split_once('=').filter(|(key, _)| *key == name))
        };
        let limit = parameter("limit").and_then(|(_, limit)| limit.parse().ok());
        let limit = limit.unwrap_or(PAGE).clamp(1, MAX_PAGE);
        let after = parameter("after").map(|(_, after)| after);
        let is_truncated = settings.has(BatchFault::TruncatedList);
        let hidden = match is_truncated || settings.has(BatchFault::Unlisted) {
            true => self.batches.len(),
            false => usize::from(is_late),
        };
        let mut newest = self.batches.iter().rev().skip(hidden).peekable();
        if let Some(after) = after {
            newest.by_ref().find(|batch| batch.id == after);
        }
        let mut page: Vec<Value> =
            newest.by_ref().take(limit).map(|batch| batch.to_json(settings)).collect();
        if settings.has(BatchFault::UnmarkedList) {
            for batch in page.iter_mut().filter_map(Value::as_object_mut) {
                batch.remove("metadata");
            }
        }
        let id = |batch: Option<&Value>| batch.and_then(|batch| batch.get("id")).cloned();
        json!({
            "object": "list",
            "first_id": id(page.first()),
            "last_id": id(page.last()),
            "has_more": is_truncated || newest.peek().is_some(),
            "data": page,
        })
    }
}
