//! Fetches files from web servers: allowed hosts alone, public addresses alone, redirects followed
//! here.

use super::{
    SourceSetupError,
    fetch_error::FetchError,
    resolver::{AddressRefused, CheckedResolver, Lookup, check_address},
};
use crate::{per_second_limiter::PerSecondLimiter, vision::response_headers};
use bytes::Bytes;
use jiff::Timestamp;
use juror_files::{fetch_policy::FetchPolicy, http_client_builder};
use juror_types::{
    error_chain::{find_cause, with_causes},
    reference::shown,
};
use reqwest::{
    Client, Response, StatusCode, Url,
    header::{HeaderMap, LOCATION},
};
use std::{net::IpAddr, sync::Arc, time::Duration};
use tokio::time::timeout;

/// Maximum number of redirects for one file.
const MAX_REDIRECTS: usize = 5;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of idle connections to a host.
const IDLE_CONNECTIONS: usize = 16;
/// Maximum space reserved by a server's `content-length` before the bytes come.
const MAX_LEADING_SPACE: usize = 1 << 20;

/// Access to the allowed web servers.
pub(super) struct Web {
    client: Client,
    allowed: Arc<FetchPolicy>,
    /// One for each allowed host, in their order.
    paces: Vec<PerSecondLimiter>,
    timeout: Duration,
}

impl Web {
    pub(super) fn new(
        allowed: &Arc<FetchPolicy>,
        fetches_per_second: f64,
        timeout: Duration,
        lookup: Arc<dyn Lookup>,
    ) -> Result<Self, SourceSetupError> {
        let pace = |_| PerSecondLimiter::per_second(fetches_per_second);
        let paces = allowed.hosts().iter().map(pace).collect::<Result<_, _>>()?;
        let client = client(allowed, timeout, lookup).map_err(SourceSetupError::Tls)?;
        Ok(Self { client, allowed: Arc::clone(allowed), paces, timeout })
    }

    /// One attempt, over all redirects.
    pub(super) async fn fetch(&self, url: Url, max_bytes: u64) -> Result<Bytes, FetchError> {
        self.admit(&url).await?;
        let followed = timeout(self.timeout, self.follow(url, max_bytes)).await;
        followed.unwrap_or_else(|_| {
            let seconds = self.timeout.as_secs_f64();
            Err(FetchError::passing(format!(
                "it was not received within {seconds} s (files.fetch_timeout_seconds)"
            )))
        })
    }

    /// Follows redirects; every step is admitted as if the item had named it.
    async fn follow(&self, mut url: Url, max_bytes: u64) -> Result<Bytes, FetchError> {
        let mut way = String::new();
        for _ in 0..=MAX_REDIRECTS {
            match self.fetch_once(&url, max_bytes).await.map_err(|miss| miss.after(&way))? {
                FetchReply::Content(content) => return Ok(content),
                FetchReply::Redirect(next) => url = next,
            }
            way = format!("it redirects to {}: ", shown(url.as_str()));
            self.admit(&url).await.map_err(|miss| miss.after(&way))?;
        }
        Err(FetchError::Final(format!(
            "it redirects more than {MAX_REDIRECTS} times; use the final address"
        )))
    }

    /// Checks a URL, and waits for the host's rate limit. A name's address is checked when it is
    /// connected to.
    async fn admit(&self, url: &Url) -> Result<(), FetchError> {
        let host = self.allowed.host(url).map_err(refused)?;
        if let Some(address) = address(url) {
            check_address(&self.allowed, address).map_err(refused)?;
        }
        if let Some(pace) = self.paces.get(host) {
            pace.wait().await;
        }
        Ok(())
    }

    async fn fetch_once(&self, url: &Url, max_bytes: u64) -> Result<FetchReply, FetchError> {
        let response = self.client.get(url.clone()).send().await.map_err(unsent)?;
        let status = response.status();
        match status {
            StatusCode::OK => content(response, max_bytes).await.map(FetchReply::Content),
            StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT => {
                target(url, response.headers()).map(FetchReply::Redirect).map_err(FetchError::Final)
            }
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => {
                Err(unavailable(&response))
            }
            _ if status.is_server_error() => Err(unavailable(&response)),
            _ => Err(FetchError::Final(refusal(status))),
        }
    }
}

impl FetchError {
    /// The same failure, with the redirects that led to it.
    fn after(self, way: &str) -> Self {
        match self {
            Self::Final(problem) => Self::Final(format!("{way}{problem}")),
            Self::TooLarge(limit) => Self::TooLarge(limit),
            Self::Passing { problem, wait } => {
                Self::Passing { problem: format!("{way}{problem}"), wait }
            }
        }
    }
}

/// Response of a server.
enum FetchReply {
    Content(Bytes),
    Redirect(Url),
}

fn client(
    allowed: &Arc<FetchPolicy>,
    timeout: Duration,
    lookup: Arc<dyn Lookup>,
) -> Result<Client, String> {
    let tls = allowed.hosts().iter().any(|host| !host.is_plain());
    // It has no proxy, which would connect to an unchecked address.
    let builder = http_client_builder(tls)
        .connect_timeout(CONNECT_TIMEOUT.min(timeout))
        .pool_max_idle_per_host(IDLE_CONNECTIONS)
        .dns_resolver(Arc::new(CheckedResolver { allowed: Arc::clone(allowed), lookup }));
    builder.build().map_err(|error| with_causes(&error))
}

/// The address written in a URL, if it has one instead of a name.
fn address(url: &Url) -> Option<IpAddr> {
    // URLs have brackets around IPv6 addresses.
    url.host_str()?.trim_matches(['[', ']']).parse().ok()
}

/// Target of a redirect.
fn target(from: &Url, headers: &HeaderMap) -> Result<Url, String> {
    let location = headers.get(LOCATION).and_then(|location| location.to_str().ok());
    let target = location.and_then(|location| from.join(location).ok());
    let mut target = target.ok_or("it redirects without a target")?;
    target.set_fragment(None);
    let shown = shown(target.as_str());
    if !["http", "https"].contains(&target.scheme()) {
        return Err(format!("it redirects to {shown:?}, which is neither https nor http"));
    }
    if from.scheme() == "https" && target.scheme() == "http" {
        return Err(format!("it redirects from https to the unencrypted {shown}"));
    }
    if !target.username().is_empty() || target.password().is_some() {
        return Err(format!("it redirects to {shown} with a user or password"));
    }
    Ok(target)
}

async fn content(mut response: Response, max_bytes: u64) -> Result<Bytes, FetchError> {
    let length = response.content_length().unwrap_or(0);
    if length > max_bytes {
        return Err(FetchError::TooLarge(max_bytes));
    }
    let mut content = Vec::with_capacity(
        usize::try_from(length).map_or(0, |length| length.min(MAX_LEADING_SPACE)),
    );
    while let Some(piece) = response.chunk().await.map_err(|error| cut(&error.without_url()))? {
        if content.len() as u64 + piece.len() as u64 > max_bytes {
            return Err(FetchError::TooLarge(max_bytes));
        }
        content.extend_from_slice(&piece);
    }
    Ok(content.into())
}

fn cut(error: &reqwest::Error) -> FetchError {
    FetchError::passing(format!("it was received only in part: {}", with_causes(error)))
}

/// Failure of an attempt without a response.
fn unsent(error: reqwest::Error) -> FetchError {
    let error = error.without_url();
    match find_cause::<AddressRefused>(&error) {
        Some(address) => refused(address),
        None => {
            FetchError::passing(format!("the server cannot be reached: {}", with_causes(&error)))
        }
    }
}

fn refused(reason: impl ToString) -> FetchError {
    FetchError::Final(reason.to_string())
}

fn unavailable(response: &Response) -> FetchError {
    let problem = format!("the server returned status {}", response.status().as_u16());
    FetchError::Passing {
        problem,
        wait: response_headers::wait(response.headers(), Timestamp::now()),
    }
}

fn refusal(status: StatusCode) -> String {
    let remedy = match status.as_u16() {
        401 | 403 => "access denied; renew the signed URL, or grant this machine access",
        404 | 410 => "no such file; check the URL",
        _ => "check the URL",
    };
    format!("the server returned status {}: {remedy}", status.as_u16())
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::HeaderValue;

    fn redirected(from: &str, location: &'static str) -> Result<String, String> {
        let headers = HeaderMap::from_iter([(LOCATION, HeaderValue::from_static(location))]);
        target(&from.parse().unwrap(), &headers).map(|url| url.to_string())
    }

    #[test]
    fn redirect_is_followed_with_all_protections() {
        let from = "https://host/a/1.png?old";
        for (location, to) in [
            ("2.png", "https://host/a/2.png"),
            ("/b/2.png?new#part", "https://host/b/2.png?new"),
            ("//other/2.png", "https://other/2.png"),
            ("HTTPS://other:444/2.png", "https://other:444/2.png"),
        ] {
            assert_eq!(redirected(from, location), Ok(to.to_owned()));
        }
        for (location, message) in [
            ("http://host/2.png?sig=secret", "from https to the unencrypted http://host/2.png"),
            ("file:///etc/passwd", "neither https nor http"),
            ("https://user:secret@host/2.png", "to https://host/2.png with a user"),
            ("https://", "without a target"),
        ] {
            let error = redirected(from, location).unwrap_err();
            assert!(error.contains(message) && !error.contains("secret"), "{error}");
        }
        assert!(redirected("http://host/1.png", "https://host/1.png").is_ok());
        assert!(target(&from.parse().unwrap(), &HeaderMap::new()).is_err());
    }
}
