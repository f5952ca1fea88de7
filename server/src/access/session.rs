//! Log-in and log-out: a browser gives the token once and keeps the id of its session.

use super::{Access, Peer, host, sessions::SESSION_TTL};
use crate::problem::Problem;
use axum::{
    Extension, Form, Router,
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::post,
};
use serde::Deserialize;
use std::{
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
};

/// `POST /login` and `POST /logout`; the form itself is a page.
pub fn routes(access: Arc<Access>) -> Router {
    Router::new().route("/login", post(log_in)).route("/logout", post(log_out)).with_state(access)
}

/// Fields of the log-in form.
#[derive(Deserialize)]
struct LogIn {
    token: String,
    /// Path of this server to go to after the log-in.
    #[serde(default)]
    next: String,
}

/// Takes the token. A wrong one leads back to the form, which then says so by `refused=token`.
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
        let detail = format!("Too many log-ins were tried. Try again in {seconds} seconds.");
        let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, detail);
        return problem.retry_after(seconds).into_response();
    }
    let next = if is_path(&form.next) { &*form.next } else { "/" };
    let Some(scope) = access.scope_of(form.token.trim()) else {
        if access.is_open() {
            return to(next);
        }
        tracing::warn!(peer = %address, "a log-in was refused");
        let form = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("refused", "token")
            .append_pair("next", next)
            .finish();
        return to(&format!("/login?{form}"));
    };
    access.attempts.succeeded(address);
    // A session that the browser had before is not left open behind the new one.
    if let Some(session) = cookie(&access, &headers) {
        access.sessions.close(session);
    }
    let session = access.sessions.open(scope);
    with_cookie(to(next), &access, &headers, &session, SESSION_TTL.as_secs())
}

/// Revokes the session: its id is worth nothing from now on, wherever it was copied to.
async fn log_out(State(access): State<Arc<Access>>, headers: HeaderMap) -> Response {
    if let Some(session) = cookie(&access, &headers) {
        access.sessions.close(session);
    }
    with_cookie(to("/login"), &access, &headers, "", 0)
}

/// The name of the cookie, with the port that the browser knows. Browsers send cookies to every
/// port of a host, so servers beside each other need names of their own.
fn cookie_name(access: &Access, headers: &HeaderMap) -> String {
    let port = host::named_port(headers);
    format!("juror_session_{}", port.unwrap_or_else(|| access.listen.port()))
}

/// The session's id among these headers.
pub fn cookie<'a>(access: &Access, headers: &'a HeaderMap) -> Option<&'a str> {
    let own = cookie_name(access, headers);
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.split_once('='));
    pairs.find(|(name, _)| name.trim() == own).map(|(_, value)| value.trim())
}

fn with_cookie(
    mut response: Response,
    access: &Access,
    headers: &HeaderMap,
    value: &str,
    seconds: u64,
) -> Response {
    let secure = if came_by_https(headers) { "; Secure" } else { "" };
    let name = cookie_name(access, headers);
    let cookie =
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

fn came_by_https(headers: &HeaderMap) -> bool {
    headers.get("x-forwarded-proto").is_some_and(|scheme| scheme == "https")
}

/// True if text is a path of this server and of no other: `//host` and `/\host` are not.
fn is_path(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next() == Some(b'/')
        && !matches!(bytes.next(), Some(b'/' | b'\\'))
        && text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn to(place: &str) -> Response {
    (StatusCode::SEE_OTHER, [(header::LOCATION, place.to_owned())]).into_response()
}

/// Leads a browser to the log-in form, and from there to where it wanted to go.
pub fn to_log_in(next: &str) -> Response {
    let form =
        url::form_urlencoded::Serializer::new(String::new()).append_pair("next", next).finish();
    to(&format!("/login?{form}"))
}
