//! Routes and middleware of the server.

use crate::{
    access::{self, Access},
    api,
    app_state::AppState,
    pages, problem,
};
use axum::{
    Router,
    extract::Request,
    http::header::ACCEPT_ENCODING,
    middleware::{Next, from_fn, from_fn_with_state},
    response::Response,
    routing::get,
};
use std::sync::Arc;
use tower_http::compression::CompressionLayer;

/// Router of the API, the pages and the log-in, with access control.
pub fn router(site: AppState, access: Access) -> Router {
    let access = Arc::new(access);
    Router::new()
        .merge(api::routes())
        .merge(pages::routes())
        .with_state(site)
        .merge(access::routes(Arc::clone(&access)))
        .route("/healthz", get(|| async { "ok\n" }))
        .layer(from_fn(access::limit_body))
        .layer(from_fn_with_state(access, access::authorize))
        .layer(from_fn(pages::problems_as_pages))
        .layer(from_fn(problem::name_instance))
        .layer(from_fn(access::secure))
        .layer(CompressionLayer::new())
        .layer(from_fn(answer_changes_uncompressed))
}

/// Middleware that answers requests that change something without compression: that a client
/// refuses every encoding would be found only after the change.
async fn answer_changes_uncompressed(mut request: Request, next: Next) -> Response {
    if !request.method().is_safe() {
        request.headers_mut().remove(ACCEPT_ENCODING);
    }
    next.run(request).await
}
