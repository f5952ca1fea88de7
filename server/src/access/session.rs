//! Logging in and out: a browser gives the token once and keeps a cookie that is made of it.

use super::{Access, Peer};
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

const COOKIE: &str = "juror_session";
/// A week.
const COOKIE_SECONDS: u64 = 7 * 24 * 60 * 60;

/// `POST /login` and `POST /logout`; the form itself is a page.
pub fn routes(access: Arc<Access>) -> Router {
    Router::new().route("/login", post(log_in)).route("/logout", post(log_out)).with_state(access)
}

/// What the form sends.
#[derive(Deserialize)]
struct LogIn {
    token: String,
    /// Where to go afterwards: a path of this server.
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
    let nobody = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    let address = peer.map_or(nobody, |Extension(Peer(peer))| peer.ip());
    if let Err(wait) = access.attempts.begin(address) {
        let seconds = wait.as_secs() + 1;
        let detail = format!("Too many log-ins were tried. Try again in {seconds} seconds.");
        let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, detail);
        return problem.retry_after(seconds).into_response();
    }
    let next = if is_path(&form.next) { &*form.next } else { "/" };
    let token = form.token.trim();
    let secrets = [&access.write, &access.read].into_iter().flatten();
    // Both are compared, so that the time does not tell which one it was.
    let known: Vec<_> = secrets.filter(|secret| secret.is(token)).collect();
    let Some(secret) = known.first() else {
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
    let secure = access.secure_cookies || came_by_https(&headers);
    with_cookie(to(next), &secret.cookie(), COOKIE_SECONDS, secure)
}

async fn log_out(State(access): State<Arc<Access>>, headers: HeaderMap) -> Response {
    let secure = access.secure_cookies || came_by_https(&headers);
    with_cookie(to("/login"), "", 0, secure)
}

/// The session's cookie among these headers.
pub fn cookie(headers: &HeaderMap) -> Option<&str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.split_once('='));
    pairs.find(|(name, _)| name.trim() == COOKIE).map(|(_, value)| value.trim())
}

fn with_cookie(mut response: Response, value: &str, seconds: u64, secure: bool) -> Response {
    let secure = if secure { "; Secure" } else { "" };
    let cookie =
        format!("{COOKIE}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

fn came_by_https(headers: &HeaderMap) -> bool {
    headers.get("x-forwarded-proto").is_some_and(|scheme| scheme == "https")
}

/// Whether text is a path of this server and of no other: `//host` and `/\host` are not.
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
