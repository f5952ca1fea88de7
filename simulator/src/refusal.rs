//! Error responses in OpenAI's format.

use crate::fault::Fault;
use hyper::StatusCode;
use serde_json::{Value, json};
use std::time::Duration;

/// An error as it goes over the wire.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
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
        status: StatusCode,
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
        let refusal = Self::new(StatusCode::BAD_REQUEST, INVALID, code, message);
        Self { parameter: Some(parameter), ..refusal }
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
        use StatusCode as S;
        let (status, kind, code, message) = match fault {
            Fault::RateLimit => {
                (S::TOO_MANY_REQUESTS, "requests", RATE_LIMIT, "too many requests in a minute")
            }
            Fault::InsufficientQuota => (
                S::TOO_MANY_REQUESTS,
                "insufficient_quota",
                "insufficient_quota",
                "the account has used up its funds",
            ),
            Fault::Unauthorized => {
                (S::UNAUTHORIZED, INVALID, "invalid_api_key", "the key is not known")
            }
            Fault::PaymentRequired => {
                (S::PAYMENT_REQUIRED, "billing_error", "payment_required", "the account is unpaid")
            }
            Fault::Forbidden => {
                (S::FORBIDDEN, "permission_error", "forbidden", "the key may not use this model")
            }
            Fault::ModelNotFound => {
                (S::NOT_FOUND, INVALID, "model_not_found", "there is no such model")
            }
            Fault::BadRequest => {
                (S::BAD_REQUEST, INVALID, "invalid_request", "the request is malformed")
            }
            Fault::ContentPolicy => (
                S::BAD_REQUEST,
                INVALID,
                "content_policy_violation",
                "the images or texts are not allowed by the content policy",
            ),
            Fault::TooLarge => {
                (S::PAYLOAD_TOO_LARGE, INVALID, "request_too_large", "the request is too large")
            }
            Fault::Timeout => {
                (S::REQUEST_TIMEOUT, "timeout", "request_timeout", "the request took too long")
            }
            Fault::Conflict => {
                (S::CONFLICT, "conflict", "conflict", "a conflicting request is in progress")
            }
            Fault::ServerError => {
                (S::INTERNAL_SERVER_ERROR, SERVER, "server_error", "the server had an error")
            }
            Fault::Unavailable => {
                (S::SERVICE_UNAVAILABLE, SERVER, "service_unavailable", "the server is away")
            }
            Fault::Overloaded => (
                S::from_u16(529).unwrap_or(S::SERVICE_UNAVAILABLE),
                "overloaded_error",
                "overloaded",
                "the server is overloaded",
            ),
            _ => return None,
        };
        let waits = matches!(fault, Fault::RateLimit);
        let refusal = Self::new(status, kind, code, message);
        Some(Self { retry_after: waits.then_some(retry_after), ..refusal })
    }
}

pub(crate) const INVALID: &str = "invalid_request_error";
pub(crate) const RATE_LIMIT: &str = "rate_limit_exceeded";
const SERVER: &str = "server_error";
