//! Log-in and log-out: a browser sends the token once and keeps the id of its session.

use super::{Access, Peer, host, session_store::SESSION_TTL};
use crate::problem::Problem;
use axum::{
    Extension, Form, Router,
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Redirect, Response},
    routing::post,
};
use serde::Deserialize;
use std::{
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
};
use url::form_urlencoded;

/// `POST /login` and `POST /logout`; the form itself is a page.
pub fn routes(access: Arc<Access>) -> Router {
    Router::new().route("/login", post(log_in)).route("/logout", post(log_out)).with_state(access)
}

/// The session id in these headers.
pub fn session_cookie<'a>(access: &Access, headers: &'a HeaderMap) -> Option<&'a str> {
    cookie_value(headers, &cookie_name(access, headers))
}

/// The value of a cookie.
pub fn cookie_value<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.split_once('='));
    pairs.find(|(other, _)| other.trim() == name).map(|(_, value)| value.trim())
}

/// Redirects a browser to the log-in form with this query: `next` is the path after the log-in,
/// `refused` the reason of another attempt.
pub fn redirect_to_login(query: &[(&str, &str)]) -> Response {
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish();
    redirect(&format!("/login?{query}"))
}

/// Fields of the log-in form.
#[derive(Deserialize)]
struct LogIn {
    token: String,
    /// Path to redirect to after the log-in.
    #[serde(default)]
    next: String,
}

/// Logs in with a token. A wrong one redirects to the form, with `refused=token`.
async fn log_in(
    State(access): State<Arc<Access>>,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
    Form(form): Form<LogIn>,
) -> Response {
    let unknown = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    let peer = peer.map_or(unknown, |Extension(Peer(peer))| peer.ip());
    let address = access.proxies.client(peer, &headers);
    if let Err(wait) = access.attempts.begin(address) {
        let seconds = wait.as_secs() + 1;
        let detail = format!("Too many log-in attempts. Try again in {seconds} seconds.");
        let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, detail);
        return problem.retry_after(seconds).into_response();
    }
    let next = if is_path(&form.next) { &*form.next } else { "/" };
    let Some(scope) = access.scope_of(form.token.trim()) else {
        if access.is_open() {
            return redirect(next);
        }
        tracing::warn!(peer = %address, "a log-in was refused");
        return redirect_to_login(&[("refused", "token"), ("next", next)]);
    };
    access.attempts.succeeded(address);
    // The browser's previous session is revoked.
    if let Some(session) = session_cookie(&access, &headers) {
        access.sessions.close(session);
    }
    let session = access.sessions.open(scope);
    with_cookie(redirect(next), &access, &headers, &session, SESSION_TTL.as_secs())
}

/// Logs out: revokes the session.
async fn log_out(State(access): State<Arc<Access>>, headers: HeaderMap) -> Response {
    if let Some(session) = session_cookie(&access, &headers) {
        access.sessions.close(session);
    }
    with_cookie(redirect("/login"), &access, &headers, "", 0)
}

/// Name of the cookie. It contains the port, since browsers send cookies to every port of a host.
fn cookie_name(access: &Access, headers: &HeaderMap) -> String {
    let port = host::named_port(headers);
    format!("juror_session_{}", port.unwrap_or_else(|| access.listen.port()))
}

fn with_cookie(
    mut response: Response,
    access: &Access,
    headers: &HeaderMap,
    value: &str,
    seconds: u64,
) -> Response {
    let secure = if is_https(headers) { "; Secure" } else { "" };
    let name = cookie_name(access, headers);
    let cookie =
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

fn is_https(headers: &HeaderMap) -> bool {
    headers.get("x-forwarded-proto").is_some_and(|scheme| scheme == "https")
}

/// True if text is a path of this server; `//host` and `/\host` are not.
fn is_path(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next() == Some(b'/')
        && !matches!(bytes.next(), Some(b'/' | b'\\'))
        && text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn redirect(target: &str) -> Response {
    Redirect::to(target).into_response()
}
