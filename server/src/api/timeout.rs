//! Time limit of an answer.

use crate::problem::Problem;
use axum::{
    extract::Request,
    http::{Method, StatusCode},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use std::time::Duration;
use tokio::time::timeout;

const MAX_DURATION: Duration = Duration::from_secs(30);

/// Gives up on reading that takes too long. What changes something is seen through: broken off,
/// nobody would know whether it happened.
pub async fn patiently(request: Request, next: Next) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return next.run(request).await;
    }
    timeout(MAX_DURATION, next.run(request)).await.unwrap_or_else(|_| {
        let detail = "This took longer than 30 seconds; the server has too much to do.";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail).retry_after(10).into_response()
    })
}
