//! The HTTP API, under `/api/v1`.

mod comparison;
mod evaluation_metrics;
mod events;
mod extract;
mod images;
mod item;
mod items;
mod openapi;
mod reports;
mod rubrics;
mod run;
mod run_control;
mod runs;
mod start_run;

use crate::{app_state::AppState, live::FinishedResult, problem::Problem};
use axum::{
    Router,
    extract::Request,
    http::{Method, StatusCode, header},
    middleware::{Next, from_fn},
    response::{IntoResponse as _, Response},
    routing::{any, get},
};
use std::time::Duration;
use tokio::time::timeout;
use utoipa::OpenApi as _;
use utoipa_axum::{router::OpenApiRouter, routes};

pub const BASE_PATH: &str = "/api/v1";

const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);

pub use images::address as image_address;
pub use reports::FORMATS as REPORT_FORMATS;

/// Routes of the API, with its OpenAPI document.
pub fn routes() -> Router<AppState> {
    let (router, document) = described().split_for_parts();
    let text = openapi::complete(&document);
    let describe = get(|| async move {
        let text = text.map_err(|error| Problem::internal(&error))?;
        Ok::<_, Problem>(([(header::CONTENT_TYPE, "application/json")], text).into_response())
    });
    let missing = || async { Problem::missing("No such path; see /api/v1/openapi.json.") };
    let router = router
        .route("/openapi.json", describe)
        .fallback(missing)
        .method_not_allowed_fallback(|| async {
            let detail = "Method not allowed; see /api/v1/openapi.json.";
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, detail)
        });
    // A nested router does not answer to its own path with a slash.
    Router::new().nest(BASE_PATH, router).route(&format!("{BASE_PATH}/"), any(missing))
}

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

/// Schemas of the document that no operation references.
#[derive(utoipa::OpenApi)]
#[openapi(components(schemas(events::ProgressEvent, FinishedResult, Problem)))]
struct Extra;

fn described() -> OpenApiRouter<AppState> {
    let limited = OpenApiRouter::new()
        .routes(routes!(evaluation_metrics::metrics))
        .routes(routes!(runs::list, start_run::start))
        .routes(routes!(run::show))
        .routes(routes!(items::list))
        .routes(routes!(item::show))
        .routes(routes!(images::image))
        .routes(routes!(comparison::comparison))
        .routes(routes!(comparison::trend))
        .routes(routes!(rubrics::list))
        .routes(routes!(rubrics::show))
        .routes(routes!(start_run::estimate))
        .routes(routes!(run_control::cancel))
        .routes(routes!(run_control::resume))
        .layer(from_fn(limit_duration));
    // Large reports and event streams have no time limit.
    let unlimited =
        OpenApiRouter::new().routes(routes!(reports::file)).routes(routes!(events::follow));
    OpenApiRouter::with_openapi(Extra::openapi()).merge(limited).merge(unlimited)
}

#[cfg(test)]
mod tests;
