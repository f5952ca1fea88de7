//! Rows and batches as OpenAI shows them.

use crate::vision::{
    BatchEnding, BatchStatus, CallEnd, EndedBatch, RowCounts, TokenLimitRefusal,
    openai::{chat_completion, classify_error, error_body::ErrorBody},
};
use juror_types::{lane::Lane, usage::Usage};
use reqwest::header::HeaderMap;
use serde_json::Value;

/// Codes of rows that had not run when their batch ended.
const NOT_RUN: [&str; 2] = ["batch_expired", "batch_cancelled"];
/// Code of batches and rows that the limit of enqueued tokens refuses.
const TOKEN_LIMIT: &str = "token_limit_exceeded";

/// End of a row's call; `None` if it had not run when its batch ended.
pub(super) fn row_end(row: &Value, show: impl Fn(&str) -> String) -> Option<CallEnd> {
    let headers = HeaderMap::new();
    if let Some(response) = row.get("response").filter(|response| !response.is_null()) {
        let status = response.get("status_code").and_then(Value::as_u64).unwrap_or(200);
        let status = u16::try_from(status).unwrap_or(500);
        let body = response.get("body").map(Value::to_string).unwrap_or_default();
        if !(200..=299).contains(&status) {
            return Some(classify_error::classify(
                status,
                body.as_bytes(),
                &headers,
                || None,
                show,
            ));
        }
        let mut end = chat_completion::read(body.as_bytes(), &headers, false, show);
        if let CallEnd::Completed(answer) = &mut end {
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
    if code == TOKEN_LIMIT {
        // Its batch may have hours left, so another one can run it.
        let message = message.map_or(code, |message| show(&message));
        return Some(CallEnd::RateLimited { retry_after: None, message });
    }
    Some(match message {
        Some(message) => CallEnd::Unavailable { status: 500, message: show(&message) },
        None => CallEnd::Lost("its row has neither a response nor an error".to_owned()),
    })
}

/// Status of a batch as the provider shows it. `show` masks secrets in messages.
pub(super) fn status_of(batch: &Value, show: impl Fn(&str) -> String) -> BatchStatus {
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
                // Some servers write an empty id where there is no file.
                .filter(|id| !id.is_empty())
                .collect(),
            usage: usage(batch),
        }),
        "failed" => {
            let errors = batch.pointer("/errors/data").and_then(Value::as_array);
            let errors = errors.map_or(&[][..], Vec::as_slice);
            let message: Vec<String> =
                errors.iter().map(|error| error_line(error, &show)).collect();
            let is_limit = |error: &Value| {
                text(error, "code").as_deref() == Some(TOKEN_LIMIT)
                    || names_token_limit(&text(error, "message").unwrap_or_default())
            };
            match errors.iter().any(is_limit) {
                true => BatchStatus::TokenLimit(token_limit_refusal(message.join("; "))),
                false => refused(errors, message.join("; ")),
            }
        }
        _ => BatchStatus::UnderWay(counts),
    }
}

/// True if a message says that the limit of enqueued tokens is reached.
pub(super) fn names_token_limit(message: &str) -> bool {
    message.to_lowercase().contains("enqueued token limit")
}

/// The refusal that this message describes, with the limit from "Limit: 90,000 enqueued tokens".
pub(super) fn token_limit_refusal(message: String) -> TokenLimitRefusal {
    let stated = message.split_once("Limit: ").and_then(|(_, rest)| {
        let (number, _) = rest.split_once(" enqueued")?;
        number.replace(',', "").parse().ok()
    });
    TokenLimitRefusal { message, limit: stated }
}

/// A text field of an object; `None` if it is missing or no text.
pub(super) fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name)?.as_str().map(str::to_owned)
}

/// Status of a batch that failed for another reason than the token limit.
fn refused(errors: &[Value], message: String) -> BatchStatus {
    let problem = |error: &Value| {
        // A refused request has 400.
        ErrorBody::read(error, error.to_string().as_bytes()).account_problem(400)
    };
    match errors.iter().find_map(problem) {
        Some(problem) => BatchStatus::Account { problem, message },
        None => BatchStatus::Invalid(message),
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
