//! Routes and middleware of the server.

use crate::{
    access::{self, Access},
    api,
    app_state::AppState,
    pages, problem,
};
use axum::{Router, middleware::from_fn, middleware::from_fn_with_state, routing::get};
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
}
