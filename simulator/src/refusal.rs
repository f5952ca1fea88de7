//! Error responses in OpenAI's format.

use crate::fault::Fault;
use serde_json::{Value, json};
use std::time::Duration;

/// An error as it goes over the wire.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    /// `error.type`.
    pub(crate) kind: &'static str,
    /// `error.code`, which is also the key of the statistics.
    pub(crate) code: &'static str,
    /// `error.param`: the parameter at fault.
    pub(crate) parameter: Option<&'static str>,
    pub(crate) message: String,
    pub(crate) retry_after: Option<Duration>,
}

impl Refusal {
    pub(crate) fn new(
        status: u16,
        kind: &'static str,
        code: &'static str,
        message: impl Into<String>,
    ) -> Self {
        let message = message.into();
        Self { status, kind, code, parameter: None, message, retry_after: None }
    }

    /// A 400 for one parameter of the request.
    pub(crate) fn parameter(
        parameter: &'static str,
        code: &'static str,
        message: impl Into<String>,
    ) -> Self {
        let refusal = Self::new(400, INVALID, code, message);
        Self { parameter: Some(parameter), ..refusal }
    }

    /// A 404 for a file or a batch.
    pub(crate) fn no_such(kind: &'static str, id: &str) -> Self {
        Self::new(404, INVALID, "not_found", format!("No such {kind}: {id}"))
    }

    pub(crate) fn body(&self) -> Value {
        json!({"error": {
            "message": self.message,
            "type": self.kind,
            "param": self.parameter,
            "code": self.code,
        }})
    }

    /// The error that a fault is, if it is one.
    pub(crate) fn from_fault(fault: Fault, retry_after: Duration) -> Option<Self> {
        let (status, kind, code, message) = match fault {
            Fault::RateLimit => (429, "requests", RATE_LIMIT, "too many requests in a minute"),
            Fault::InsufficientQuota => (429, QUOTA, QUOTA, "the account has used up its funds"),
            Fault::Unauthorized => (401, INVALID, "invalid_api_key", "the key is not known"),
            Fault::PaymentRequired => {
                (402, "billing_error", "payment_required", "the account is unpaid")
            }
            Fault::Forbidden => {
                (403, "permission_error", "forbidden", "the key may not use this model")
            }
            Fault::ModelNotFound => (404, INVALID, "model_not_found", "there is no such model"),
            Fault::BadRequest => (400, INVALID, "invalid_request", "the request is malformed"),
            Fault::ContentPolicy => {
                let message = "the images or texts are not allowed by the content policy";
                (400, INVALID, "content_policy_violation", message)
            }
            Fault::TooLarge => (413, INVALID, "request_too_large", "the request is too large"),
            Fault::Timeout => (408, "timeout", "request_timeout", "the request took too long"),
            Fault::Conflict => {
                (409, "conflict", "conflict", "a conflicting request is in progress")
            }
            Fault::ServerError => (500, SERVER, "server_error", "the server had an error"),
            Fault::Unavailable => (503, SERVER, "service_unavailable", "the server is away"),
            Fault::Overloaded => {
                (529, "overloaded_error", "overloaded", "the server is overloaded")
            }
            _ => return None,
        };
        let waits = matches!(fault, Fault::RateLimit);
        let refusal = Self::new(status, kind, code, message);
        Some(Self { retry_after: waits.then_some(retry_after), ..refusal })
    }
}

pub(crate) const INVALID: &str = "invalid_request_error";
pub(crate) const RATE_LIMIT: &str = "rate_limit_exceeded";
const QUOTA: &str = "insufficient_quota";
const SERVER: &str = "server_error";
