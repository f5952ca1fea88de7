//! Limits on the size of request bodies and the time to receive them.

use crate::problem::Problem;
use axum::{
    body::{Body, to_bytes},
    extract::Request,
    http::StatusCode,
    middleware::Next,
    response::{IntoResponse, Response},
};
use std::time::Duration;
use tokio::time::timeout;

/// Maximum size of a request's body, in bytes.
const MAX_BYTES: usize = 64 << 10;
/// Time limit for receiving a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Middleware that reads a request's body within the limits.
pub async fn limit_body(request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    match timeout(BODY_TIMEOUT, to_bytes(body, MAX_BYTES)).await {
        Ok(Ok(bytes)) => next.run(Request::from_parts(head, Body::from(bytes))).await,
        Ok(Err(error)) => unreadable(&error).into_response(),
        Err(_) => {
            let detail = "The body of the request did not arrive within 30 seconds.";
            Problem::new(StatusCode::REQUEST_TIMEOUT, detail).into_response()
        }
    }
}

fn unreadable(error: &axum::Error) -> Problem {
    let source = std::error::Error::source(error);
    if source.is_some_and(|source| source.is::<http_body_util::LengthLimitError>()) {
        let detail = format!("The body of a request has at most {MAX_BYTES} bytes.");
        return Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail);
    }
    Problem::new(StatusCode::BAD_REQUEST, "The body of the request is incomplete.")
}
