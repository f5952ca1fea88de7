//! Meaning of a status other than 200. Pure.

use super::{
    decode::error_text,
    error_body::{self, ErrorBody},
    phrases::{GRAMMAR, NO_JSON, REPLY_FORMAT, STRUCTURE, TOO_LARGE, UNSUPPORTED},
    retry_after,
    usage::usage,
};
use crate::vision::{AccountProblem, CallEnd, response_headers};
use jiff::Timestamp;
use reqwest::header::{HeaderMap, LOCATION};
use serde_json::Value;
use std::time::Duration;

/// Reads a failure. `wait` is the wait requested by the headers; `show` redacts a foreign message.
pub(super) fn classify(
    status: u16,
    content: &[u8],
    headers: &HeaderMap,
    wait: impl FnOnce() -> Option<Duration>,
    show: impl Fn(&str) -> String,
) -> CallEnd {
    let content = error_text(content);
    let body = error_body::json(&content);
    let error_body = ErrorBody::read(&body, &content);
    let message = show(&error_body.message);
    let usage = usage(&body);
    if error_body.is_moderation() {
        return CallEnd::Refused { status, message, usage };
    }
    if let Some(problem) = error_body.account_problem(status) {
        return CallEnd::Account { problem, message };
    }
    match status {
        300..=399 => {
            let target = headers.get(LOCATION).and_then(|value| value.to_str().ok());
            let message = show(&format!(
                "it redirects to {:?} (status {status}), to which the key is not sent",
                target.unwrap_or("nowhere")
            ));
            CallEnd::Account { problem: AccountProblem::Address, message }
        }
        // Exceeds the whole limit, so waiting does not help.
        429 if error_body.contains(TOO_LARGE) => CallEnd::Refused { status, message, usage },
        429 => {
            let retry_after = wait().or_else(|| retry_after::read(&body, &error_body.message));
            if retry_after.is_none() && error_body.is_exhausted_quota() {
                return CallEnd::Account { problem: AccountProblem::DayLimit, message };
            }
            CallEnd::RateLimited { retry_after, message }
        }
        // Another reply may be JSON.
        400 if error_body.names(&[NO_JSON]) => CallEnd::UnusableReply { message, usage },
        500 if names_grammar(&message) => CallEnd::Refused { status, message, usage },
        408 | 409 | 425 | 500..=599 => match (usage, body.get("choices")) {
            (None, None)
                if matches!(status, 409 | 425) || error_body.is_own_error(status, &body) =>
            {
                CallEnd::Unavailable { status, message }
            }
            (None, None) => CallEnd::Lost(format!(
                "status {status} without an error of the provider, as from a gateway whose \
                 upstream may continue: {message}"
            )),
            // The work was done before it failed.
            _ => CallEnd::UnusableReply { message, usage },
        },
        _ => CallEnd::Refused { status, message, usage },
    }
}

/// Meaning of an error in a reply of status 200, if waiting or a person's action is the remedy.
pub(super) fn in_ok_response(
    body: &Value,
    headers: &HeaderMap,
    show: impl Fn(&str) -> String,
) -> Option<CallEnd> {
    let code = body.pointer("/error")?.get("code").and_then(Value::as_u64);
    let status = code.and_then(|code| u16::try_from(code).ok()).unwrap_or(200);
    let content = body.to_string();
    let wait = || response_headers::wait(headers, Timestamp::now());
    let end = classify(status, content.as_bytes(), headers, wait, show);
    let is_told = match &end {
        CallEnd::Account { .. } | CallEnd::RateLimited { .. } => true,
        CallEnd::Refused { status, .. } => *status != 200,
        _ => false,
    };
    is_told.then_some(end)
}

/// True if a refusal concerns the requested format of the reply.
pub(super) fn names_reply_format(message: &str) -> bool {
    let lower = message.to_lowercase();
    let mentions = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    mentions(REPLY_FORMAT)
        || names_grammar(message)
        || (mentions(STRUCTURE) && mentions(UNSUPPORTED))
}

/// True if no grammar could be made of the schema.
fn names_grammar(message: &str) -> bool {
    message.to_lowercase().contains(GRAMMAR)
}

#[cfg(test)]
mod tests;
