//! Reading what a request asks for; whatever cannot be read is a problem that says why.

use crate::problem::Problem;
use axum::{
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Path, Query, Request},
    http::{StatusCode, request::Parts},
};
use juror_types::id::RunId;
use serde::de::DeserializeOwned;

/// The run that a path names.
pub struct RunOf(pub RunId);

/// The run that a path names, and what it names in it.
pub struct InRun(pub RunId, pub String);

/// Query in strict form. A name that it does not know is an error: it may be mistyped.
pub struct StrictQuery<T>(pub T);

/// Body in JSON.
pub struct JsonBody<T>(pub T);

impl<S: Send + Sync> FromRequestParts<S> for RunOf {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Path(run) = Path::<String>::from_request_parts(parts, state).await.map_err(unread)?;
        run_id(&run).map(Self)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for InRun {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = Path::<(String, String)>::from_request_parts(parts, state).await;
        let Path((run, inner)) = path.map_err(unread)?;
        Ok(Self(run_id(&run)?, inner))
    }
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for StrictQuery<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let query = Query::<T>::from_request_parts(parts, state).await;
        let Query(asked) = query.map_err(|error| Problem::bad_request(&error.body_text()))?;
        Ok(Self(asked))
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
        let body = body.map_err(|error| Problem::bad_request(&error.body_text()))?;
        // A document that is no JSON at all is another mistake than one that asks for too much.
        serde_json::from_slice::<T>(&body).map(Self).map_err(|error| {
            let status = match error.classify() {
                serde_json::error::Category::Data => StatusCode::UNPROCESSABLE_ENTITY,
                _ => StatusCode::BAD_REQUEST,
            };
            Problem::new(status, format!("The body cannot be read: {error}."))
        })
    }
}

/// A run's name, or that there is no run of such a name.
pub fn run_id(text: &str) -> Result<RunId, Problem> {
    RunId::parse(text).map_err(|error| Problem::missing(error.to_string()))
}

fn unread(error: axum::extract::rejection::PathRejection) -> Problem {
    Problem::bad_request(&error.body_text())
}

impl Problem {
    fn bad_request(detail: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }
}

/// Does what blocks where that is allowed.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    tokio::task::spawn_blocking(work).await.map_err(|error| Problem::internal(&error))?
}
