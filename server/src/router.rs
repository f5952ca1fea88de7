//! Routes and middleware of the server.

use crate::{
    access::{self, Access},
    api,
    app_state::AppState,
    pages,
    problem::{self, Problem},
};
use axum::{
    Router,
    body::{Body, to_bytes},
    extract::Request,
    http::{HeaderName, HeaderValue, StatusCode, header},
    middleware::{Next, from_fn, from_fn_with_state},
    response::{IntoResponse as _, Response},
    routing::get,
};
use std::{sync::Arc, time::Duration};
use tokio::time::timeout;
use tower_http::compression::CompressionLayer;

/// Maximum size of a request's body, in bytes.
const MAX_BODY_BYTES: usize = 64 << 10;
/// Time limit for receiving a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// Content security policy of pages: resources of this server only, no inline scripts or styles.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; \
                      img-src 'self' data:; connect-src 'self'; form-action 'self'; \
                      frame-ancestors 'none'; base-uri 'none'";

/// Router of the API, the pages and the log-in, with access control.
pub fn router(site: AppState, access: Access) -> Router {
    let access = Arc::new(access);
    Router::new()
        .merge(api::routes())
        .merge(pages::routes())
        .with_state(site)
        .merge(access::routes(Arc::clone(&access)))
        .route("/healthz", get(|| async { "ok\n" }))
        .layer(from_fn(limit_body))
        .layer(from_fn_with_state(access, access::authorize))
        .layer(from_fn(pages::problems_as_pages))
        .layer(from_fn(problem::name_instance))
        .layer(from_fn(secure))
        .layer(CompressionLayer::new())
        .layer(from_fn(answer_changes_uncompressed))
}

/// Middleware that answers requests that change something without compression: that a client
/// refuses every encoding would be found only after the change.
async fn answer_changes_uncompressed(mut request: Request, next: Next) -> Response {
    if !request.method().is_safe() {
        request.headers_mut().remove(header::ACCEPT_ENCODING);
    }
    next.run(request).await
}

/// Middleware that reads a request's body within the limits.
async fn limit_body(request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    match timeout(BODY_TIMEOUT, to_bytes(body, MAX_BODY_BYTES)).await {
        Ok(Ok(bytes)) => next.run(Request::from_parts(head, Body::from(bytes))).await,
        Ok(Err(error)) => unreadable(&error).into_response(),
        Err(_) => {
            let detail = "The body of the request did not arrive within 30 seconds.";
            Problem::new(StatusCode::REQUEST_TIMEOUT, detail).into_response()
        }
    }
}

/// Middleware that adds security headers to responses that do not set them.
async fn secure(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // Not `no-referrer`: forms would then be sent with the origin "null".
        (header::REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

fn unreadable(error: &axum::Error) -> Problem {
    let source = std::error::Error::source(error);
    if source.is_some_and(|source| source.is::<http_body_util::LengthLimitError>()) {
        let detail = format!("The body of a request has at most {MAX_BODY_BYTES} bytes.");
        return Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail);
    }
    Problem::new(StatusCode::BAD_REQUEST, "The body of the request is incomplete.")
}
