//! Checks that every request passes first.

use super::{
    Access, Pass, Visitor,
    origin::{self, Origin},
    proxies, session,
};
use crate::problem::Problem;
use axum::{
    extract::{Request, State},
    http::{Method, StatusCode},
    middleware::Next,
    response::{IntoResponse, Response},
};
use std::sync::Arc;

/// Lets a request through, with its [`super::Visitor`] as an extension of it and of its answer, or
/// refuses it. Health is
/// told to everybody; the log-in form and what it looks like need no token.
pub async fn guard(
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
            told_to(visitor, next.run(request).await)
        }
        Err(Refused::Problem(problem)) if problem.status() == StatusCode::MISDIRECTED_REQUEST => {
            problem.into_response()
        }
        Err(Refused::Problem(problem)) => {
            told_to(access.visitor(request.headers()), problem.into_response())
        }
        Err(Refused::LogIn { next }) => session::to_log_in(&next),
    }
}

/// The answer with a mark of the visitor who gets it.
fn told_to(visitor: Visitor, mut response: Response) -> Response {
    response.extensions_mut().insert(visitor);
    response
}

/// Refusal of a request that is not let through.
enum Refused {
    Problem(Problem),
    /// A browser, which is led to the form, and from there to where it wanted to go.
    LogIn {
        next: String,
    },
}

fn check(access: &Access, request: &Request) -> Result<Visitor, Refused> {
    let (headers, path) = (request.headers(), request.uri().path());
    if !access.knows_host(headers) {
        let detail = "This server does not answer under that name; serve.hosts sets further names.";
        return Err(Refused::Problem(Problem::new(StatusCode::MISDIRECTED_REQUEST, detail)));
    }
    if access.is_open() && proxies::is_forwarded(headers) {
        return Err(Refused::Problem(Problem::new(
            StatusCode::FORBIDDEN,
            "This request came through a proxy, and this server has no token that protects it. \
             Set serve.read_token_file or serve.write_token_file and start it again.",
        )));
    }
    let visitor = access.visitor(headers);
    let reads = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    if !reads && !is_own_doing(visitor.pass, request) {
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

/// True if whoever sends it means to: a page of another site may make a browser send a cookie, or
/// reach an open server, but never knows a token.
fn is_own_doing(pass: Pass, request: &Request) -> bool {
    match (origin::of(request.headers()), pass) {
        (_, Pass::Bearer) | (Origin::Own, _) => true,
        (Origin::Unsaid, Pass::None) => origin::announces_json(request.headers()),
        (Origin::Foreign, _) | (Origin::Unsaid, Pass::Cookie) => false,
    }
}

fn refusal(access: &Access, request: &Request, may_read: bool) -> Refused {
    if may_read {
        let remedy = match access.write {
            Some(_) => "Log in with the write token.",
            None => "This server has no write token, so runs cannot be started here.",
        };
        let detail = format!("This token reads only. {remedy}");
        return Refused::Problem(Problem::new(StatusCode::FORBIDDEN, detail));
    }
    let path = request.uri().path();
    if !path.starts_with("/api/") {
        let wanted = request.uri().path_and_query().map_or(path, |wanted| wanted.as_str());
        let next = if *request.method() == Method::GET { wanted } else { "/" };
        return Refused::LogIn { next: next.to_owned() };
    }
    let detail = "This server wants a token, in the header authorization: Bearer TOKEN.";
    Refused::Problem(Problem::new(StatusCode::UNAUTHORIZED, detail))
}
