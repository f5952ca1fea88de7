//! Pages that say why there is nothing to see, and what to do next.

use crate::{
    access::Visitor,
    comparisons::NotCompared,
    pages::layout::{NavigationPage, page},
    problem::Problem,
    view::ViewError,
};
use axum::{
    extract::Request,
    http::{StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use juror_analysis::compare::CompareError;
use juror_app::{catalog::RunState, error::AppError};
use juror_journal::journal::JournalError;
use juror_report::sanitize::harmless;
use juror_types::id::RunId;
use maud::{Markup, html};

/// Reason why a page cannot be shown.
#[derive(Clone, Debug)]
pub struct PageError {
    status: StatusCode,
    title: String,
    says: String,
    retry_after: Option<u64>,
}

/// Makes the pages of all troubles, and of problems where a browser asked for a page, with the ways
/// that are open to who asked. Programs that ask for pages get what they would get of the API.
pub async fn problems_as_pages(request: Request, next: Next) -> Response {
    let is_page = !request.uri().path().starts_with("/api/");
    let accepted = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
    let wants_page = is_page && accepted.is_some_and(|types| types.contains("text/html"));
    let response = next.run(request).await;
    let extensions = response.extensions();
    let visitor = extensions.get::<Visitor>().copied();
    let mut page = match (extensions.get::<PageError>(), extensions.get::<Problem>()) {
        (Some(trouble), _) => trouble.page(visitor),
        (None, Some(problem)) if wants_page => {
            let says = problem.detail.clone();
            PageError::new(problem.status(), problem.title(), says).page(visitor)
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

/// Answers what has no page.
pub async fn unknown() -> PageError {
    PageError::missing("There is no page at this address.".to_owned())
}

impl PageError {
    /// There is no such thing.
    pub fn missing(says: String) -> Self {
        Self::new(StatusCode::NOT_FOUND, "Not found", says)
    }

    /// A request that makes no sense.
    pub fn unusable(says: String) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "This cannot be done", says)
    }

    fn new(status: StatusCode, title: &str, says: String) -> Self {
        Self { status, title: title.to_owned(), says, retry_after: None }
    }

    fn page(&self, visitor: Option<Visitor>) -> Response {
        let content = html! {
            h1 { (self.title) }
            div.card {
                p { bdi { (harmless(&self.says)) } }
                @match visitor {
                    Some(Visitor { may_read: true, .. }) => {
                        p { "Go to " a href="/runs" { "all runs" } " or to the " a href="/" { "overview" } "." }
                    }
                    Some(_) => { p { "Go to the " a href="/login" { "log-in" } "." } }
                    // It is not known under which name the server could be reached.
                    None => {}
                }
            }
        };
        (self.status, page(visitor, &self.title, NavigationPage::Other, &content)).into_response()
    }

    /// A run's files are not what they should be: a person must look at them.
    fn unreadable_run(reason: &str) -> Self {
        tracing::error!("a run cannot be shown: {reason}");
        let says = format!("This run cannot be read: {reason}.");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "This run is damaged", says)
    }

    /// An error of this process: the log has the cause, the page does not.
    fn broken(error: &dyn std::fmt::Display) -> Self {
        tracing::error!("a page could not be made: {error}");
        let says = "The server could not make this page; its log says why.".to_owned();
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "This page could not be made", says)
    }
}

impl IntoResponse for PageError {
    /// The trouble itself is an extension of the response, for who knows who asked.
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
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "Broken off", error.to_string())
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
            error => {
                Self { retry_after: Some(5), ..AppError::Unavailable(error.to_string()).into() }
            }
        }
    }
}

impl From<AppError> for PageError {
    fn from(refusal: AppError) -> Self {
        let (says, retry_after) = (refusal.to_string(), refusal.retry_after());
        let trouble = match refusal {
            AppError::Invalid(_) | AppError::Field { .. } => Self::unusable(says),
            AppError::NotFound(_) => Self::missing(says),
            AppError::Conflict(_) | AppError::NameTaken(_) => {
                Self::new(StatusCode::CONFLICT, "This does not fit how things stand", says)
            }
            AppError::Unavailable(_) => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "Not available at the moment", says)
            }
            AppError::Internal(_) => Self::broken(&says),
        };
        Self { retry_after, ..trouble }
    }
}

/// The name of a run in an address; what cannot be one is no run.
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
