//! OpenAI's files and batches, and Azure's, which differ in their paths.

mod decode_batch;
#[cfg(test)]
mod tests;

use super::{
    OpenAi,
    body::{self, ReplyFormat},
};
use crate::{
    lone_surrogates::replace_lone_surrogates,
    vision::{
        BatchError, BatchLimits, BatchMark, BatchProvider, BatchStatus, CallEnd, DroppedOption,
        Request, RequestOptions, RowOutput,
        http::{Reply, ReplyBody, TransferError},
    },
};
use async_trait::async_trait;
use bytes::Bytes;
use decode_batch::{names_token_limit, row_end, status_of, text, token_limit_refusal};
use juror_types::byte_order_mark::without_byte_order_mark;
use serde_json::{Value, json};
use std::{path::Path, time::Duration};
use tokio_util::sync::CancellationToken;

/// Endings of Azure's hosts: its public cloud, its API Management, and its clouds for the United
/// States government and for China.
const AZURE_HOSTS: [&str; 4] = [".azure.com", ".azure-api.net", ".azure.us", ".azure.cn"];
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

impl OpenAi {
    /// The path that rows name: Azure's is below its own base.
    fn batch_endpoint(&self) -> &'static str {
        let host = self.http.host();
        match AZURE_HOSTS.iter().any(|ending| host.ends_with(ending)) {
            true => "/chat/completions",
            false => "/v1/chat/completions",
        }
    }

    async fn get_json(&self, path: &[&str], query: &[(&str, &str)]) -> Result<Value, BatchError> {
        let reply = self.http.get(path, query).await.map_err(BatchError::Unavailable)?;
        self.json_of(reply)
    }

    async fn post(&self, path: &[&str], body: &Value) -> Result<Reply, BatchError> {
        let json = Bytes::from(body.to_string());
        // A creation must not be dropped between its request and its reply.
        let uncancelled = CancellationToken::new();
        let sent = self.http.post(path, json, self.http.timeout(), &uncancelled).await;
        sent.map_err(error_of)
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
        if !reply.is_success() {
            return Err(error_of(self.failure(reply)));
        }
        match reply.body {
            ReplyBody::Whole(content) => serde_json::from_slice(&content).map_err(|error| {
                BatchError::Lost(self.http.redact(&format!("the reply is not JSON ({error})")))
            }),
            ReplyBody::Cut(reason) => Err(BatchError::Lost(format!("the reply was cut: {reason}"))),
            ReplyBody::TooLarge => Err(BatchError::Lost("the reply is too large".to_owned())),
        }
    }
}

#[async_trait]
impl BatchProvider for OpenAi {
    fn limits(&self) -> BatchLimits {
        LIMITS
    }

    fn row(&self, id: &str, request: &Request) -> Vec<u8> {
        let sent = self.options(request);
        let format = ReplyFormat::from_number(sent.format);
        let body = body::write(request, format, sent.keeps_instructions);
        let head = json!({"custom_id": id, "method": "POST", "url": self.batch_endpoint()});
        let mut row = head.to_string().into_bytes();
        row.pop();
        row.extend_from_slice(b",\"body\":");
        row.extend_from_slice(&body);
        row.extend_from_slice(b"}\n");
        row
    }

    fn row_options(&self, request: &Request) -> RequestOptions {
        self.options(request)
    }

    fn drop_refused(&self, sent: RequestOptions, end: &CallEnd) -> Option<DroppedOption> {
        self.drop_option(sent, end)
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
        let created = self.json_of(self.post(&["batches"], &body).await?)?;
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
                    && !matches!(
                        status_of(batch, str::to_owned),
                        BatchStatus::TokenLimit(_) | BatchStatus::Account { .. }
                    )
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
        let reply = self.http.get(&["batches", batch], &[]).await;
        let reply = reply.map_err(BatchError::Unavailable)?;
        self.check_known(&reply, &format!("batch {batch}"))?;
        Ok(status_of(&self.json_of(reply)?, |message| self.http.redact(message)))
    }

    async fn cancel(&self, batch: &str) -> Result<(), BatchError> {
        let reply = self.post(&["batches", batch, "cancel"], &json!({})).await?;
        // A conflict with its state: it ends already.
        if reply.status == 409 { Ok(()) } else { self.json_of(reply).map(drop) }
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
        let line = replace_lone_surrogates(without_byte_order_mark(line));
        let row: Value = serde_json::from_slice(&line).ok()?;
        let id = text(&row, "custom_id")?;
        let show = |message: &str| self.http.redact(message);
        Some(RowOutput { id, end: row_end(&row, show) })
    }
}

fn error_of(end: CallEnd) -> BatchError {
    match end {
        CallEnd::RateLimited { retry_after, message } => {
            BatchError::RateLimited { retry_after, message }
        }
        CallEnd::Refused { message, .. } if names_token_limit(&message) => {
            BatchError::TokenLimit(token_limit_refusal(message))
        }
        CallEnd::Refused { status, message, .. } => BatchError::Refused { status, message },
        CallEnd::Account { problem, message } => BatchError::Account { problem, message },
        CallEnd::NotSent(message)
        | CallEnd::Unavailable { message, .. }
        | CallEnd::NotCompletion(message) => BatchError::Unavailable(message),
        CallEnd::Lost(message) | CallEnd::UnusableReply { message, .. } => {
            BatchError::Lost(message)
        }
        CallEnd::Cancelled { .. } | CallEnd::Completed(_) => {
            BatchError::Lost("the request was aborted".to_owned())
        }
    }
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
