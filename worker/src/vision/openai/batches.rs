//! OpenAI's files and batches, and Azure's, which differ in their paths.

use super::{OpenAi, body, chat_completion, failure};
use crate::vision::{
    BatchEnding, BatchError, BatchLimits, BatchMark, BatchProvider, BatchStatus, CallEnd,
    EndedBatch, Request, RowCounts, RowOutput, headers,
    http::{Reply, ReplyBody, TransferError},
};
use async_trait::async_trait;
use bytes::Bytes;
use jiff::Timestamp;
use juror_types::{byte_order_mark::without_byte_order_mark, lane::Lane, usage::Usage};
use reqwest::header::HeaderMap;
use serde_json::{Value, json};
use std::{path::Path, time::Duration};
use tokio_util::sync::CancellationToken;

/// OpenAI's limits; Azure's are the same or higher.
const LIMITS: BatchLimits = BatchLimits { rows: 50_000, bytes: 200_000_000 };
/// Time limit for a file of 200 MB on a slow connection.
const TRANSFER_TIMEOUT: Duration = Duration::from_secs(30 * 60);
/// Maximum number of pages of the list of batches that are searched; a day's batches are on the
/// first of them.
const MAX_PAGES: usize = 50;
/// Number of batches on a page, the maximum of the list.
const PAGE: usize = 100;
/// Maximum number of polls of an uploaded file until the provider has accepted it, a second apart.
const MAX_FILE_LOOKS: u32 = 600;
/// Names of a batch's mark in its metadata.
const RUN: &str = "juror_run";
const SHARD: &str = "juror_shard";
/// Codes of rows that never ran.
const NOT_RUN: [&str; 3] = ["batch_expired", "batch_cancelled", "token_limit_exceeded"];

impl OpenAi {
    /// The path that rows name: Azure's is below its own base.
    fn batch_endpoint(&self) -> &'static str {
        match self.http.host().ends_with(".azure.com") {
            true => "/chat/completions",
            false => "/v1/chat/completions",
        }
    }

    async fn get_json(&self, path: &[&str], query: &[(&str, &str)]) -> Result<Value, BatchError> {
        let reply = self.http.get_with(path, query).await.map_err(BatchError::Unavailable)?;
        self.json_of(reply)
    }

    async fn post_json(&self, path: &[&str], body: &Value) -> Result<Value, BatchError> {
        let json = Bytes::from(body.to_string());
        // A creation must not be dropped between its request and its reply.
        let uncancelled = CancellationToken::new();
        let sent = self.http.post(path, json, self.http.timeout(), &uncancelled).await;
        self.json_of(sent.map_err(error_of)?)
    }

    /// An error if a batch or file is not at the provider.
    fn check_known(&self, reply: &Reply, what: &str) -> Result<(), BatchError> {
        match reply.status {
            404 => Err(BatchError::Gone(format!(
                "the provider has no {what} for this key at {}",
                self.http.host()
            ))),
            _ => Ok(()),
        }
    }

    fn json_of(&self, reply: Reply) -> Result<Value, BatchError> {
        let show = |message: &str| self.http.redact(message);
        let content = match (reply.status, reply.body) {
            (_, ReplyBody::Whole(content)) => content,
            (200..=299, ReplyBody::Cut(reason)) => {
                return Err(BatchError::Lost(format!("the reply was cut: {reason}")));
            }
            (200..=299, ReplyBody::TooLarge) => {
                return Err(BatchError::Lost("the reply is too large".to_owned()));
            }
            (_, _) => Vec::new(),
        };
        if (200..=299).contains(&reply.status) {
            return serde_json::from_slice(&content).map_err(|error| {
                BatchError::Lost(show(&format!("the reply is not JSON ({error})")))
            });
        }
        let wait = || headers::wait(&reply.headers, Timestamp::now());
        Err(error_of(failure::classify(reply.status, &content, &reply.headers, wait, show)))
    }
}

#[async_trait]
impl BatchProvider for OpenAi {
    fn limits(&self) -> BatchLimits {
        LIMITS
    }

    fn row(&self, id: &str, request: &Request) -> Vec<u8> {
        let body = body::write(request, self.format(), self.keeps_instructions(request));
        let head = json!({"custom_id": id, "method": "POST", "url": self.batch_endpoint()});
        let mut row = head.to_string().into_bytes();
        row.pop();
        row.extend_from_slice(b",\"body\":");
        row.extend_from_slice(&body);
        row.extend_from_slice(b"}\n");
        row
    }

    async fn upload(&self, file: &Path) -> Result<String, BatchError> {
        let reply = self.http.upload(&["files"], file, TRANSFER_TIMEOUT).await;
        let mut uploaded = self.json_of(reply.map_err(|end| match end {
            TransferError::Exchange(end) => error_of(end),
            TransferError::File(unreadable) => {
                BatchError::File(format!("{}: {unreadable}", file.display()))
            }
        })?)?;
        let id = text(&uploaded, "id").ok_or_else(|| no_id("an uploaded file"))?;
        for _ in 0..MAX_FILE_LOOKS {
            match text(&uploaded, "status").as_deref() {
                Some("pending" | "running" | "uploading") => {}
                Some("error") => {
                    let message = text(&uploaded, "status_details").unwrap_or_default();
                    return Err(BatchError::Refused { status: 200, message });
                }
                _ => return Ok(id),
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
            uploaded = self.get_json(&["files", &id], &[]).await?;
        }
        Err(BatchError::Unavailable(format!("the provider has not processed file {id}")))
    }

    async fn create(&self, file: &str, mark: &BatchMark) -> Result<String, BatchError> {
        let body = json!({
            "input_file_id": file,
            "endpoint": self.batch_endpoint(),
            "completion_window": "24h",
            "metadata": {RUN: mark.run, SHARD: mark.shard.to_string()},
        });
        let created = self.post_json(&["batches"], &body).await?;
        text(&created, "id").ok_or_else(|| no_id("a new batch"))
    }

    async fn find_up_to(&self, file: &str, at_most: usize) -> Result<Vec<String>, BatchError> {
        let limit = PAGE.to_string();
        let (mut found, mut after) = (Vec::new(), None::<String>);
        for _ in 0..MAX_PAGES {
            let mut query = vec![("limit", limit.as_str())];
            query.extend(after.as_deref().map(|after| ("after", after)));
            let page = self.get_json(&["batches"], &query).await?;
            let Some(batches) = page.get("data").and_then(Value::as_array) else {
                return Err(incomplete_list("has no array \"data\""));
            };
            // A shard's number may be reused, its file never is; some lists leave the mark out.
            let is_it = |batch: &&Value| {
                text(batch, "input_file_id").as_deref() == Some(file)
                    && !matches!(status_of(batch, str::to_owned), BatchStatus::TokenLimit(_))
            };
            for batch in batches.iter().filter(is_it).take(at_most.saturating_sub(found.len())) {
                let unnamed = || incomplete_list(&format!("has a batch of file {file} without id"));
                found.push(text(batch, "id").ok_or_else(unnamed)?);
            }
            if found.len() >= at_most {
                return Ok(found);
            }
            let has_more = page.get("has_more").and_then(Value::as_bool);
            if !has_more.unwrap_or(batches.len() >= PAGE) {
                return Ok(found);
            }
            let last = batches.last().and_then(|last| text(last, "id"));
            after = Some(last.ok_or_else(|| incomplete_list("names no batch to continue after"))?);
        }
        Err(incomplete_list(&format!("has more than {MAX_PAGES} pages")))
    }

    async fn status(&self, batch: &str) -> Result<BatchStatus, BatchError> {
        let reply = self.http.get_with(&["batches", batch], &[]).await;
        let reply = reply.map_err(BatchError::Unavailable)?;
        self.check_known(&reply, &format!("batch {batch}"))?;
        Ok(status_of(&self.json_of(reply)?, |message| self.http.redact(message)))
    }

    async fn cancel(&self, batch: &str) -> Result<(), BatchError> {
        self.post_json(&["batches", batch, "cancel"], &json!({})).await.map(drop)
    }

    async fn download(&self, file: &str, to: &Path) -> Result<(), BatchError> {
        let reply = self.http.download(&["files", file, "content"], to, TRANSFER_TIMEOUT).await;
        match reply {
            Ok(None) => Ok(()),
            Ok(Some(reply)) => {
                self.check_known(&reply, &format!("file {file}"))?;
                let unreadable = BatchError::Unavailable(format!("file {file} could not be read"));
                self.json_of(reply).and(Err(unreadable))
            }
            Err(TransferError::Exchange(network)) => Err(BatchError::Unavailable(network)),
            Err(TransferError::File(unwritable)) => {
                Err(BatchError::File(format!("{}: {unwritable}", to.display())))
            }
        }
    }

    async fn delete_file(&self, file: &str) -> Result<(), BatchError> {
        let reply = self.http.delete(&["files", file]).await.map_err(BatchError::Unavailable)?;
        match reply.status {
            404 => Ok(()),
            _ => self.json_of(reply).map(drop),
        }
    }

    fn read_row(&self, line: &[u8]) -> Option<RowOutput> {
        let row: Value = serde_json::from_slice(without_byte_order_mark(line)).ok()?;
        let id = text(&row, "custom_id")?;
        let show = |message: &str| self.http.redact(message);
        Some(RowOutput { id, end: row_end(&row, show) })
    }
}

/// End of a row's call; none if it never ran.
fn row_end(row: &Value, show: impl Fn(&str) -> String) -> Option<CallEnd> {
    let headers = HeaderMap::new();
    if let Some(response) = row.get("response").filter(|response| !response.is_null()) {
        let status = response.get("status_code").and_then(Value::as_u64).unwrap_or(200);
        let status = u16::try_from(status).unwrap_or(500);
        let body = response.get("body").map(Value::to_string).unwrap_or_default();
        if !(200..=299).contains(&status) {
            return Some(failure::classify(status, body.as_bytes(), &headers, || None, show));
        }
        let mut end = chat_completion::read(body.as_bytes(), &headers, false, show);
        if let CallEnd::Answered(answer) = &mut end {
            answer.lane = Lane::Batch;
        }
        return Some(end);
    }
    let error = row.get("error").filter(|error| !error.is_null());
    let code = error.and_then(|error| text(error, "code")).unwrap_or_default();
    if NOT_RUN.contains(&code.as_str()) {
        return None;
    }
    let message = error.and_then(|error| text(error, "message"));
    Some(match message {
        Some(message) => CallEnd::Unavailable { status: 500, message: show(&message) },
        None => CallEnd::Lost("its row has neither a response nor an error".to_owned()),
    })
}

fn status_of(batch: &Value, show: impl Fn(&str) -> String) -> BatchStatus {
    let count = |name: &str| {
        let count = batch.get("request_counts").and_then(|counts| counts.get(name));
        // Far above any batch, and low enough for sums.
        count.and_then(Value::as_u64).unwrap_or(0).min(u64::from(u32::MAX))
    };
    let counts =
        RowCounts { total: count("total"), completed: count("completed"), failed: count("failed") };
    let status = text(batch, "status").unwrap_or_default();
    match status.as_str() {
        "completed" | "expired" | "cancelled" => BatchStatus::Ended(EndedBatch {
            counts,
            ending: match status.as_str() {
                "expired" => BatchEnding::Expired,
                "cancelled" => BatchEnding::Cancelled,
                _ => BatchEnding::Completed,
            },
            files: ["output_file_id", "error_file_id"]
                .iter()
                .filter_map(|name| text(batch, name))
                .collect(),
            usage: usage(batch),
        }),
        "failed" => {
            let errors = batch.pointer("/errors/data").and_then(Value::as_array);
            let errors = errors.map_or(&[][..], Vec::as_slice);
            let message: Vec<String> =
                errors.iter().map(|error| error_line(error, &show)).collect();
            let is_limit = |error: &Value| {
                text(error, "code").as_deref() == Some("token_limit_exceeded")
                    || names_token_limit(&text(error, "message").unwrap_or_default())
            };
            match errors.iter().any(is_limit) {
                true => BatchStatus::TokenLimit(message.join("; ")),
                false => BatchStatus::Invalid(message.join("; ")),
            }
        }
        _ => BatchStatus::UnderWay(counts),
    }
}

fn error_line(error: &Value, show: impl Fn(&str) -> String) -> String {
    let message = show(&text(error, "message").unwrap_or_default());
    match error.get("line").and_then(Value::as_u64) {
        Some(line) => format!("line {line}: {message}"),
        None => message,
    }
}

/// The usage of a whole batch, if it is stated and not zero.
fn usage(batch: &Value) -> Option<Usage> {
    let usage = batch.get("usage")?;
    let count = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64);
    let input_tokens = count("/input_tokens").filter(|tokens| *tokens > 0)?;
    Some(Usage {
        input_tokens,
        cached_input_tokens: count("/input_tokens_details/cached_tokens").unwrap_or(0),
        output_tokens: count("/output_tokens")?,
    })
}

fn error_of(end: CallEnd) -> BatchError {
    match end {
        CallEnd::RateLimited { retry_after, message } => {
            BatchError::RateLimited { retry_after, message }
        }
        CallEnd::Refused { message, .. } if names_token_limit(&message) => {
            BatchError::TokenLimit(message)
        }
        CallEnd::Refused { status, message, .. } => BatchError::Refused { status, message },
        CallEnd::Account { problem, message } => BatchError::Account { problem, message },
        CallEnd::NotSent(message)
        | CallEnd::Unavailable { message, .. }
        | CallEnd::NotCompletion(message) => BatchError::Unavailable(message),
        CallEnd::Lost(message) | CallEnd::BadAnswer { message, .. } => BatchError::Lost(message),
        CallEnd::Cancelled { .. } | CallEnd::Answered(_) => {
            BatchError::Lost("the request was aborted".to_owned())
        }
    }
}

fn names_token_limit(message: &str) -> bool {
    message.to_lowercase().contains("enqueued token limit")
}

fn no_id(what: &str) -> BatchError {
    BatchError::Lost(format!("the reply has no id of {what}"))
}

/// Error of a list of batches that cannot be searched to its end.
fn incomplete_list(problem: &str) -> BatchError {
    BatchError::Unsearchable(format!(
        "a batch that may have been created cannot be looked for: the provider's list {problem}"
    ))
}

fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name)?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests;
