//! Error pages.

use crate::{
    access::Visitor,
    comparisons::NotCompared,
    pages::layout::{NavigationPage, page},
    problem::{Problem, status_of},
    view::ViewError,
};
use axum::{
    extract::Request,
    http::{StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use juror_analysis::compare_runs::CompareError;
use juror_app::{catalog::RunState, error::AppError};
use juror_journal::journal::JournalError;
use juror_report::sanitize::sanitize;
use juror_types::id::RunId;
use maud::{Markup, html};

/// Reason why a page cannot be shown.
#[derive(Clone, Debug)]
pub struct PageError {
    status: StatusCode,
    title: String,
    message: String,
    retry_after: Option<u64>,
}

impl PageError {
    /// A missing page or run.
    pub fn missing(message: String) -> Self {
        Self::new(StatusCode::NOT_FOUND, "Not found", message)
    }

    /// An invalid request.
    pub fn unusable(message: String) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "This cannot be done", message)
    }

    fn new(status: StatusCode, title: &str, message: String) -> Self {
        Self { status, title: title.to_owned(), message, retry_after: None }
    }

    fn page(&self, visitor: Option<Visitor>) -> Response {
        let content = html! {
            h1 { (self.title) }
            div.card {
                p { bdi { (sanitize(&self.message)) } }
                @match visitor {
                    Some(Visitor { may_read: true, .. }) => {
                        p { "Go to " a href="/runs" { "all runs" } " or to the " a href="/" { "overview" } "." }
                    }
                    Some(_) => { p { "Go to the " a href="/login" { "log-in" } "." } }
                    // A misdirected request: the server's own host name is unknown.
                    None => {}
                }
            }
        };
        (self.status, page(visitor, &self.title, NavigationPage::Other, &content)).into_response()
    }

    /// A run with damaged files, which the operator must repair.
    fn unreadable_run(reason: &str) -> Self {
        tracing::error!("a run cannot be shown: {reason}");
        let message = format!("This run cannot be read: {reason}.");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "This run is damaged", message)
    }

    /// An internal error, whose cause is only in the log.
    fn broken(error: &dyn std::fmt::Display) -> Self {
        tracing::error!("a page could not be made: {error}");
        let message = "The server could not render this page; see its log.".to_owned();
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "Internal error", message)
    }
}

impl IntoResponse for PageError {
    /// A response with the error as an extension, for [`problems_as_pages`].
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        response.extensions_mut().insert(self);
        response
    }
}

impl From<ViewError> for PageError {
    fn from(error: ViewError) -> Self {
        if error.is_missing() {
            return Self::missing("There is no such run.".to_owned());
        }
        match error {
            ViewError::Interrupted => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "Interrupted", error.to_string())
            }
            ViewError::Journal(error) => Self::unreadable_run(&error.in_its_run()),
            ViewError::Rubric(_) => Self::unreadable_run(&error.to_string()),
        }
    }
}

impl From<JournalError> for PageError {
    fn from(error: JournalError) -> Self {
        ViewError::Journal(error).into()
    }
}

impl From<std::io::Error> for PageError {
    fn from(error: std::io::Error) -> Self {
        Self::broken(&error)
    }
}

impl From<tokio::task::JoinError> for PageError {
    fn from(_: tokio::task::JoinError) -> Self {
        ViewError::Interrupted.into()
    }
}

impl From<NotCompared> for PageError {
    fn from(error: NotCompared) -> Self {
        match error {
            NotCompared::Impossible(CompareError::Journal(error)) => error.into(),
            error => Self { retry_after: Some(5), ..AppError::unavailable(error).into() },
        }
    }
}

impl From<AppError> for PageError {
    fn from(refusal: AppError) -> Self {
        let (message, retry_after) = (refusal.to_string(), refusal.retry_after());
        let error = match status_of(&refusal) {
            StatusCode::UNPROCESSABLE_ENTITY => Self::unusable(message),
            StatusCode::NOT_FOUND => Self::missing(message),
            status @ StatusCode::CONFLICT => {
                Self::new(status, "Conflicts with the run's current state", message)
            }
            status @ StatusCode::SERVICE_UNAVAILABLE => {
                Self::new(status, "Not available at the moment", message)
            }
            _ => Self::broken(&message),
        };
        Self { retry_after, ..error }
    }
}

/// Middleware that renders error pages, and a [`Problem`] as one if the client
/// accepts HTML, with the navigation of its visitor.
pub async fn problems_as_pages(request: Request, next: Next) -> Response {
    let is_page = !request.uri().path().starts_with("/api/");
    let accepted = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
    let accepts_page = is_page && accepted.is_some_and(|types| types.contains("text/html"));
    let response = next.run(request).await;
    let extensions = response.extensions();
    let visitor = extensions.get::<Visitor>().copied();
    let mut page = match (extensions.get::<PageError>(), extensions.get::<Problem>()) {
        (Some(error), _) => error.page(visitor),
        (None, Some(problem)) if accepts_page => {
            let message = problem.detail.clone();
            PageError::new(problem.status(), problem.title(), message).page(visitor)
        }
        _ => return response,
    };
    for name in [header::RETRY_AFTER, header::WWW_AUTHENTICATE] {
        if let Some(value) = response.headers().get(&name) {
            page.headers_mut().insert(name, value.clone());
        }
    }
    page
}

/// The error page of an unknown path.
pub async fn unknown() -> PageError {
    PageError::missing("There is no page at this address.".to_owned())
}

/// Parses a run id in a path; an invalid one is a missing run.
pub fn run_named(name: &str) -> Result<RunId, PageError> {
    RunId::parse(name).map_err(|_| PageError::missing(format!("There is no run {name:?}.")))
}

/// State of a run as a chip.
pub fn state_chip(state: RunState) -> Markup {
    let (class, word) = match state {
        RunState::Running => ("undecided", "running"),
        RunState::Complete => ("met", "complete"),
        RunState::Incomplete => ("missed", "incomplete"),
        RunState::Damaged => ("missed", "damaged"),
    };
    html! { span class=(format!("chip {class}")) { (word) } }
}
