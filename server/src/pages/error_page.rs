//! Error pages.

use super::{NavigationPage, page};
use crate::{access::Visitor, problem::Problem};
use axum::{
    extract::Request,
    http::{StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use juror_report::sanitize::sanitize;
use juror_types::id::RunId;
use maud::html;

/// Reason why a page cannot be shown.
#[derive(Clone, Debug)]
pub struct PageError(Problem);

impl PageError {
    /// A missing page or run.
    pub fn missing(message: String) -> Self {
        Self(Problem::missing(message))
    }

    /// An invalid request.
    pub fn unusable(message: String) -> Self {
        Self(Problem::unprocessable(message))
    }
}

impl IntoResponse for PageError {
    /// A response with the error as an extension, for [`problems_as_pages`].
    fn into_response(self) -> Response {
        let mut response = self.0.clone().into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl<E> From<E> for PageError
where
    Problem: From<E>,
{
    fn from(error: E) -> Self {
        Self(error.into())
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
        (Some(PageError(problem)), _) => page_of(problem, visitor),
        (None, Some(problem)) if accepts_page => page_of(problem, visitor),
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

fn page_of(problem: &Problem, visitor: Option<Visitor>) -> Response {
    let title = match problem.status() {
        StatusCode::NOT_FOUND => "Not found",
        StatusCode::UNPROCESSABLE_ENTITY => "This cannot be done",
        StatusCode::CONFLICT => "Conflicts with the run's current state",
        StatusCode::SERVICE_UNAVAILABLE => "Not available at the moment",
        StatusCode::INTERNAL_SERVER_ERROR => "This page cannot be shown",
        _ => problem.title(),
    };
    let content = html! {
        h1 { (title) }
        div.card {
            p { bdi { (sanitize(&problem.detail)) } }
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
    (problem.status(), page(visitor, title, NavigationPage::Other, &content)).into_response()
}
