//! Authorization of requests.

use super::{
    Access, Credential, Visitor, login,
    origin::{self, Origin},
    proxies,
};
use crate::problem::Problem;
use axum::{
    extract::{Request, State},
    http::{HeaderMap, Method, StatusCode},
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
    if !access.knows_host(request.headers()) {
        let detail = "This host name is not served; add it to serve.hosts.";
        return Problem::new(StatusCode::MISDIRECTED_REQUEST, detail).into_response();
    }
    let visitor = access.visitor(request.headers());
    let mut response = match refusal(&access, &request, visitor) {
        Some(refusal) => refusal,
        None => {
            request.extensions_mut().insert(visitor);
            next.run(request).await
        }
    };
    response.extensions_mut().insert(visitor);
    response
}

/// The response to a request that is refused: a problem, or a redirect of a browser to the log-in
/// form, and from there to its page.
fn refusal(access: &Access, request: &Request, visitor: Visitor) -> Option<Response> {
    let (headers, path) = (request.headers(), request.uri().path());
    let problem = |status, detail: &str| Some(Problem::new(status, detail).into_response());
    if access.is_open() && proxies::is_forwarded(headers) {
        let detail = "This request came through a proxy, and this server has no token. Set \
                      serve.read_token_file or serve.write_token_file and restart the server.";
        return problem(StatusCode::FORBIDDEN, detail);
    }
    let reads = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    if !reads && !is_same_site(visitor.credential, headers) {
        let detail = "This request may come from a page of another site. Send it from a page of \
                      this server, or with a bearer token, or, where no token is set, with the \
                      header content-type: application/json.";
        return problem(StatusCode::FORBIDDEN, detail);
    }
    let is_public = matches!(path, "/login" | "/logout") || path.starts_with("/assets/");
    if is_public || if reads { visitor.may_read } else { visitor.may_write } {
        return None;
    }
    if visitor.may_read {
        let remedy = match access.write {
            Some(_) => "Log in with the write token.",
            None => "This server has no write token, so it cannot start runs.",
        };
        let detail = format!("This token permits reading only. {remedy}");
        return problem(StatusCode::FORBIDDEN, &detail);
    }
    if path.starts_with("/api/") {
        let detail = "This server requires a token, in the header authorization: Bearer TOKEN.";
        return problem(StatusCode::UNAUTHORIZED, detail);
    }
    let target = request.uri().path_and_query().map_or(path, |target| target.as_str());
    let next = if *request.method() == Method::GET { target } else { "/" };
    Some(login::redirect_to_login(&[("next", next)]))
}

/// False if a page of another site may have sent the request: it can make a browser send a cookie,
/// or reach an open server, but has no token.
fn is_same_site(credential: Credential, headers: &HeaderMap) -> bool {
    match (origin::from_headers(headers), credential) {
        (_, Credential::Bearer) | (Origin::Own, _) => true,
        (Origin::Unknown, Credential::None) => origin::announces_json(headers),
        (Origin::Foreign, _) | (Origin::Unknown, Credential::Cookie) => false,
    }
}
