//! Authorization of requests.

use super::{
    Access, Credential, Visitor, login,
    origin::{self, Origin},
    proxies,
};
use crate::problem::Problem;
use axum::{
    extract::{Request, State},
    http::{Method, StatusCode},
    middleware::Next,
    response::{IntoResponse, Response},
};
use std::sync::Arc;

/// Middleware that authorizes a request, and adds its [`super::Visitor`] as an extension to the
/// request and the response. Health, the log-in form and assets need no token.
pub async fn authorize(
    State(access): State<Arc<Access>>,
    mut request: Request,
    next: Next,
) -> Response {
    if request.uri().path() == "/healthz" {
        return next.run(request).await;
    }
    match check(&access, &request) {
        Ok(visitor) => {
            request.extensions_mut().insert(visitor);
            with_visitor(visitor, next.run(request).await)
        }
        Err(Refused::Problem(problem)) if problem.status() == StatusCode::MISDIRECTED_REQUEST => {
            problem.into_response()
        }
        Err(Refused::Problem(problem)) => {
            with_visitor(access.visitor(request.headers()), problem.into_response())
        }
        Err(Refused::LogIn { next }) => login::redirect_to_login(&next),
    }
}

/// Refusal of a request.
enum Refused {
    Problem(Problem),
    /// Redirect of a browser to the log-in form, and from there to `next`.
    LogIn {
        next: String,
    },
}

/// The response with its visitor as an extension.
fn with_visitor(visitor: Visitor, mut response: Response) -> Response {
    response.extensions_mut().insert(visitor);
    response
}

fn check(access: &Access, request: &Request) -> Result<Visitor, Refused> {
    let (headers, path) = (request.headers(), request.uri().path());
    if !access.knows_host(headers) {
        let detail = "This host name is not served; add it to serve.hosts.";
        return Err(Refused::Problem(Problem::new(StatusCode::MISDIRECTED_REQUEST, detail)));
    }
    if access.is_open() && proxies::is_forwarded(headers) {
        return Err(Refused::Problem(Problem::new(
            StatusCode::FORBIDDEN,
            "This request came through a proxy, and this server has no token. Set \
             serve.read_token_file or serve.write_token_file and restart the server.",
        )));
    }
    let visitor = access.visitor(headers);
    let reads = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    if !reads && !is_same_site(visitor.credential, request) {
        return Err(Refused::Problem(Problem::new(
            StatusCode::FORBIDDEN,
            "This request may come from a page of another site. Send it from a page of this \
             server, or with a bearer token, or, where no token is set, with the header \
             content-type: application/json.",
        )));
    }
    let is_public = matches!(path, "/login" | "/logout") || path.starts_with("/assets/");
    if is_public || if reads { visitor.may_read } else { visitor.may_write } {
        return Ok(visitor);
    }
    Err(refusal(access, request, visitor.may_read))
}

/// False if a page of another site may have sent the request: it can make a browser send a cookie,
/// or reach an open server, but has no token.
fn is_same_site(credential: Credential, request: &Request) -> bool {
    match (origin::from_headers(request.headers()), credential) {
        (_, Credential::Bearer) | (Origin::Own, _) => true,
        (Origin::Unknown, Credential::None) => origin::announces_json(request.headers()),
        (Origin::Foreign, _) | (Origin::Unknown, Credential::Cookie) => false,
    }
}

fn refusal(access: &Access, request: &Request, may_read: bool) -> Refused {
    if may_read {
        let remedy = match access.write {
            Some(_) => "Log in with the write token.",
            None => "This server has no write token, so it cannot start runs.",
        };
        let detail = format!("This token permits reading only. {remedy}");
        return Refused::Problem(Problem::new(StatusCode::FORBIDDEN, detail));
    }
    let path = request.uri().path();
    if !path.starts_with("/api/") {
        let target = request.uri().path_and_query().map_or(path, |target| target.as_str());
        let next = if *request.method() == Method::GET { target } else { "/" };
        return Refused::LogIn { next: next.to_owned() };
    }
    let detail = "This server requires a token, in the header authorization: Bearer TOKEN.";
    Refused::Problem(Problem::new(StatusCode::UNAUTHORIZED, detail))
}
