//! Time limit of responses.

use crate::problem::Problem;
use axum::{
    extract::Request,
    http::{Method, StatusCode},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use std::time::Duration;
use tokio::time::timeout;

const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);

/// Middleware that limits the time of reads. Writes run to completion, since an interrupted one
/// would have an unknown outcome.
pub async fn limit_duration(request: Request, next: Next) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return next.run(request).await;
    }
    timeout(RESPONSE_TIMEOUT, next.run(request)).await.unwrap_or_else(|_| {
        let detail = "This took longer than 30 seconds; the server is overloaded.";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail).retry_after(10).into_response()
    })
}
