//! Taking in what a request sends, within bounds of size and time.

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

/// The largest body of a request.
const MAX_BYTES: usize = 64 << 10;
/// Time limit for a body to arrive.
const MAX_DURATION: Duration = Duration::from_secs(30);

/// Reads a request's body before anything is done with it.
pub async fn limit_body(request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    match timeout(MAX_DURATION, to_bytes(body, MAX_BYTES)).await {
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
        let detail = format!("A request takes at most {MAX_BYTES} bytes.");
        return Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail);
    }
    Problem::new(StatusCode::BAD_REQUEST, "The body of the request broke off.")
}
