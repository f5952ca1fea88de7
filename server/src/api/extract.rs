//! Extractors, which reject invalid requests with a [`Problem`].

use crate::problem::Problem;
use axum::{
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Path, Query, Request},
    http::{StatusCode, request::Parts},
};
use juror_types::id::RunId;
use serde::de::DeserializeOwned;

/// Run id in the path.
pub struct RunPath(pub RunId);

/// Run id in the path, and the segment after it.
pub struct RunSubpath(pub RunId, pub String);

/// Query that rejects unknown parameters, which may be mistyped.
pub struct StrictQuery<T>(pub T);

pub struct JsonBody<T>(pub T);

impl<S: Send + Sync> FromRequestParts<S> for RunPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Path(run) = Path::<String>::from_request_parts(parts, state).await?;
        run_id(&run).map(Self)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for RunSubpath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = Path::<(String, String)>::from_request_parts(parts, state).await;
        let Path((run, inner)) = path?;
        Ok(Self(run_id(&run)?, inner))
    }
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for StrictQuery<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let query = Query::<T>::from_request_parts(parts, state).await;
        let query = query.map_err(|error| Problem::bad_request(error.body_text()));
        query.map(|Query(query)| Self(query))
    }
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        if !crate::access::announces_json(request.headers()) {
            let detail = "Send JSON, with the header content-type: application/json.";
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail));
        }
        let body = Bytes::from_request(request, state).await;
        let body = body.map_err(|error| Problem::bad_request(error.body_text()))?;
        // Invalid JSON is 400, invalid values are 422.
        serde_json::from_slice::<T>(&body).map(Self).map_err(|error| {
            let status = match error.classify() {
                serde_json::error::Category::Data => StatusCode::UNPROCESSABLE_ENTITY,
                _ => StatusCode::BAD_REQUEST,
            };
            Problem::new(status, format!("The body cannot be read: {error}."))
        })
    }
}

/// Parses a run id; an invalid one is a missing run.
pub fn run_id(text: &str) -> Result<RunId, Problem> {
    RunId::parse(text).map_err(|error| Problem::missing(error.to_string()))
}

/// Runs blocking work on a thread for it.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    tokio::task::spawn_blocking(work).await.map_err(|error| Problem::internal(&error))?
}
