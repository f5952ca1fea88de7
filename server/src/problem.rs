//! Error responses: problem details by RFC 9457.

use crate::view::ViewError;
use axum::{
    body::Body,
    extract::{Request, rejection::PathRejection},
    http::{HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use juror_app::error::AppError;
use juror_journal::journal::JournalError;
use serde::Serialize;
use utoipa::ToSchema;

/// Problem details of a failed request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Problem {
    /// Always `about:blank`: the status identifies the problem.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The status as text.
    title: &'static str,
    /// The HTTP status.
    #[schema(minimum = 400, maximum = 599)]
    status: u16,
    /// The problem and the remedy.
    pub detail: String,
    /// Path of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<String>,
    #[serde(skip)]
    retry_after: Option<u64>,
}

impl Problem {
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self {
            kind: "about:blank",
            title: status.canonical_reason().unwrap_or_default(),
            status: status.as_u16(),
            detail: detail.into(),
            instance: None,
            retry_after: None,
        }
    }

    /// A missing resource.
    pub fn missing(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, detail)
    }

    /// A malformed request.
    pub fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    /// A request with an invalid value.
    pub fn unprocessable(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, detail)
    }

    /// An internal error, whose cause is only in the log.
    pub fn internal(error: &dyn std::fmt::Display) -> Self {
        tracing::error!("a request failed: {error}");
        let detail = "Internal error; see the server's log.";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, detail)
    }

    /// A run with damaged files, which the operator must repair.
    fn unreadable_run(reason: &str) -> Self {
        tracing::error!("a run cannot be read: {reason}");
        let detail = format!("This run cannot be read: {reason}.");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, detail)
    }

    /// Sets the seconds after which the request may be retried.
    pub fn retry_after(self, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }

    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// Status as text.
    pub fn title(&self) -> &'static str {
        self.title
    }
}

impl IntoResponse for Problem {
    /// A response with the problem as an extension, from which pages are rendered.
    fn into_response(self) -> Response {
        let mut response = (
            self.status(),
            [(header::CONTENT_TYPE, "application/problem+json")],
            serde_json::to_string(&self).unwrap_or_default(),
        )
            .into_response();
        let headers = response.headers_mut();
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status() == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(self);
        response
    }
}

impl From<ViewError> for Problem {
    fn from(error: ViewError) -> Self {
        match error {
            ViewError::Journal(error) => error.into(),
            ViewError::Interrupted => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string()).retry_after(1)
            }
            ViewError::Rubric(_) => Self::unreadable_run(&error.to_string()),
        }
    }
}

impl From<JournalError> for Problem {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::Missing { .. } => Self::missing("There is no such run."),
            error => Self::unreadable_run(&error.in_its_run()),
        }
    }
}

impl From<std::io::Error> for Problem {
    fn from(error: std::io::Error) -> Self {
        Self::internal(&error)
    }
}

impl From<tokio::task::JoinError> for Problem {
    fn from(_: tokio::task::JoinError) -> Self {
        ViewError::Interrupted.into()
    }
}

impl From<PathRejection> for Problem {
    fn from(error: PathRejection) -> Self {
        Self::bad_request(error.body_text())
    }
}

impl From<AppError> for Problem {
    fn from(refusal: AppError) -> Self {
        let status = match refusal {
            AppError::Internal(_) => return Self::internal(&refusal),
            AppError::Invalid(_) | AppError::Field { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            AppError::NotFound(_) => StatusCode::NOT_FOUND,
            AppError::Conflict(_) | AppError::NameTaken(_) | AppError::RunInUse(_) => {
                StatusCode::CONFLICT
            }
            AppError::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
        };
        Self { retry_after: refusal.retry_after(), ..Self::new(status, refusal.to_string()) }
    }
}

/// Middleware that adds the path to problems.
pub async fn name_instance(request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let mut response = next.run(request).await;
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        let problem = Problem { instance: Some(path), ..problem };
        let body = serde_json::to_string(&problem).unwrap_or_default();
        response.headers_mut().remove(header::CONTENT_LENGTH);
        *response.body_mut() = Body::from(body);
        response.extensions_mut().insert(problem);
    }
    response
}
