//! HTTP exchange with a vision API of any provider: connections, timeouts, and response size
//! limits.

use super::{
    call_result::{AccountProblem, CallEnd},
    credentials::ApiKey,
    http_settings::{self, HttpSettings, SetupError},
    redact::redact,
    request_bodies::{FORM, FileForm, Sent, Upload},
};
use bytes::Bytes;
use juror_tls::{TlsFailure, TlsFiles, TlsSettingNames};
use juror_types::error_chain::with_causes;
use reqwest::{
    Client, RequestBuilder, Response, Url,
    header::{CONTENT_TYPE, HeaderMap},
};
use std::{io, path::Path, time::Duration};
use tokio::time::{Instant, timeout_at};
use tokio::{fs::File, io::AsyncWriteExt as _};
use tokio_util::sync::CancellationToken;

/// Maximum size of a response body; replies of a judge are far smaller.
pub(super) const BODY_LIMIT: usize = 4 << 20;

/// A client for one base URL.
pub(super) struct Http {
    client: Client,
    base: Url,
    key: Option<ApiKey>,
    /// Secrets that no message may show.
    secrets: Vec<String>,
    timeout: Duration,
    tls_files: TlsFiles,
}

/// Reason why a file was not transferred.
pub(super) enum TransferError<E> {
    /// The file on this machine cannot be read or written.
    File(io::Error),
    Exchange(E),
}

/// Response, possibly truncated.
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: ReplyBody,
}

/// Received part of a response body.
pub(super) enum ReplyBody {
    Whole(Vec<u8>),
    Cut(String),
    TooLarge,
}

impl Reply {
    /// True for a status of 2xx.
    pub(super) fn is_success(&self) -> bool {
        (200..=299).contains(&self.status)
    }
}

impl ReplyBody {
    /// The content; empty unless the whole of it came.
    pub(super) fn whole(self) -> Vec<u8> {
        match self {
            Self::Whole(content) => content,
            Self::Cut(_) | Self::TooLarge => Vec::new(),
        }
    }
}

impl Http {
    pub(super) fn new(settings: HttpSettings) -> Result<Self, SetupError> {
        let base = base_url(&settings)?;
        let client = http_settings::client(&settings, base.scheme() == "https")?;
        let secrets = secrets(&settings);
        let key = settings.key.filter(|_| !settings.headers.replace_key());
        let tls_files = TlsFiles { ca: settings.ca_file, ..TlsFiles::default() };
        Ok(Self { client, base, key, secrets, timeout: settings.timeout, tls_files })
    }

    /// Sends JSON below the base URL. Errors are ends of calls without a response.
    pub(super) async fn post(
        &self,
        path: &[&str],
        json: Bytes,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<Reply, CallEnd> {
        let sent = Sent::default();
        let body = reqwest::Body::wrap(Upload { content: json, sent: sent.clone() });
        let request = self
            .client
            .post(self.below_base(path))
            .header(CONTENT_TYPE, "application/json")
            .body(body);
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(CallEnd::Cancelled { sent: sent.get() }),
            outcome = self.exchange(request, timeout) => {
                let network = if sent.get() { CallEnd::Lost } else { CallEnd::NotSent };
                outcome.map_err(|error| error.end(network))
            }
        }
    }

    /// Time limit of an ordinary exchange.
    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Reads a path below the base URL; the error is the reason why nothing came.
    pub(super) async fn get(&self, path: &[&str], query: &[(&str, &str)]) -> Result<Reply, String> {
        let mut url = self.below_base(path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        self.exchange_for_free(self.client.get(url)).await
    }

    /// Deletes a path below the base URL; the error is the reason why nothing came.
    pub(super) async fn delete(&self, path: &[&str]) -> Result<Reply, String> {
        self.exchange_for_free(self.client.delete(self.below_base(path))).await
    }

    /// Uploads a file of rows below the base URL.
    pub(super) async fn upload(
        &self,
        path: &[&str],
        file: &Path,
        timeout: Duration,
    ) -> Result<Reply, TransferError<CallEnd>> {
        let form = FileForm::of_batch(file).await.map_err(TransferError::File)?;
        let request = self
            .client
            .post(self.below_base(path))
            .header(CONTENT_TYPE, FORM)
            .body(reqwest::Body::wrap(form));
        let sent = self.exchange(request, timeout).await;
        // A file uploaded twice costs nothing, so a network error is retried.
        sent.map_err(|error| TransferError::Exchange(error.end(CallEnd::NotSent)))
    }

    /// Downloads a path below the base URL into a file of any size; returns the reply if it has
    /// another status than 200.
    pub(super) async fn download(
        &self,
        path: &[&str],
        to: &Path,
        timeout: Duration,
    ) -> Result<Option<Reply>, TransferError<String>> {
        let cut = |error: reqwest::Error| {
            TransferError::Exchange(self.redact(&with_causes(&error.without_url())))
        };
        let transfer = async {
            let request = self.with_key(self.client.get(self.below_base(path)));
            let mut response = request.send().await.map_err(cut)?;
            let status = response.status().as_u16();
            if status != 200 {
                let headers = std::mem::take(response.headers_mut());
                let body = read(response).await.map_err(cut)?;
                return Ok(Some(Reply { status, headers, body }));
            }
            let mut file = File::create(to).await.map_err(TransferError::File)?;
            while let Some(piece) = response.chunk().await.map_err(cut)? {
                file.write_all(&piece).await.map_err(TransferError::File)?;
            }
            file.flush().await.map_err(TransferError::File)?;
            Ok(None)
        };
        tokio::time::timeout(timeout, transfer).await.unwrap_or_else(|_| {
            Err(TransferError::Exchange("the file was not received in time".to_owned()))
        })
    }

    /// The host of the base URL.
    pub(super) fn host(&self) -> &str {
        self.base.host_str().unwrap_or_default()
    }

    /// Posts to a path at the server's root that costs nothing.
    pub(super) async fn post_to_root(&self, path: &str, json: String) -> Result<Reply, String> {
        let mut url = self.base.clone();
        url.set_path(path);
        let request = self.client.post(url).header(CONTENT_TYPE, "application/json").body(json);
        self.exchange_for_free(request).await
    }

    async fn exchange_for_free(&self, request: RequestBuilder) -> Result<Reply, String> {
        self.exchange(request, self.timeout).await.map_err(|error| match error {
            ExchangeError::Certificate(message) | ExchangeError::Network(message) => message,
        })
    }

    /// A foreign message without secrets and control characters, truncated.
    pub(super) fn redact(&self, message: &str) -> String {
        redact(message, self.secrets.iter().map(String::as_str))
    }

    fn below_base(&self, path: &[&str]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
    }

    async fn exchange(
        &self,
        request: RequestBuilder,
        limit: Duration,
    ) -> Result<Reply, ExchangeError> {
        let deadline = Instant::now().checked_add(limit).unwrap_or_else(Instant::now);
        let too_late = || format!("no complete reply within {} s", limit.as_secs_f64());
        let request = self.with_key(request);
        let mut response = match timeout_at(deadline, request.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(self.explain(&error.without_url())),
            Err(_) => return Err(ExchangeError::Network(too_late())),
        };
        let status = response.status().as_u16();
        let headers = std::mem::take(response.headers_mut());
        let body = match timeout_at(deadline, read(response)).await {
            Ok(Ok(body)) => body,
            Ok(Err(error)) => ReplyBody::Cut(self.redact(&with_causes(&error.without_url()))),
            Err(_) => ReplyBody::Cut(too_late()),
        };
        Ok(Reply { status, headers, body })
    }

    fn with_key(&self, request: RequestBuilder) -> RequestBuilder {
        match &self.key {
            Some(key) => request.header(reqwest::header::AUTHORIZATION, key.bearer()),
            None => request,
        }
    }

    fn explain(&self, error: &reqwest::Error) -> ExchangeError {
        match juror_tls::explain(error, &TlsSettingNames::JUDGE, &self.tls_files) {
            Some(TlsFailure { message, is_permanent: true }) => ExchangeError::Certificate(message),
            _ => {
                // Without its path, which may hold a key.
                let host = self.base.origin().ascii_serialization();
                let message = format!("{host}: {}", with_causes(error));
                ExchangeError::Network(self.redact(&message))
            }
        }
    }
}

/// Reason for a missing response.
enum ExchangeError {
    /// TLS failed in a way that needs a person to act.
    Certificate(String),
    Network(String),
}

impl ExchangeError {
    /// End of the call; `network` is that of one whose network failed.
    fn end(self, network: fn(String) -> CallEnd) -> CallEnd {
        match self {
            Self::Network(message) => network(message),
            Self::Certificate(message) => {
                CallEnd::Account { problem: AccountProblem::Certificate, message }
            }
        }
    }
}

async fn read(mut response: Response) -> Result<ReplyBody, reqwest::Error> {
    let mut content = Vec::new();
    while let Some(piece) = response.chunk().await? {
        if content.len() + piece.len() > BODY_LIMIT {
            return Ok(ReplyBody::TooLarge);
        }
        content.extend_from_slice(&piece);
    }
    Ok(ReplyBody::Whole(content))
}

fn base_url(settings: &HttpSettings) -> Result<Url, SetupError> {
    let wrong = |reason: String| SetupError::BaseUrl { url: shown(settings), reason };
    let url = Url::parse(settings.base_url.trim())
        .map_err(|error| wrong(format!("{error}; use a URL like https://api.openai.com/v1")))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong(
            "it contains a user or password; set the key by its own setting".to_owned(),
        ));
    }
    if !["http", "https"].contains(&url.scheme()) || url.host_str().is_none() {
        return Err(wrong("it must start with https:// or http:// and have a host".to_owned()));
    }
    Ok(url)
}

/// The base URL without the parts that may hold secrets.
fn shown(settings: &HttpSettings) -> String {
    let url = settings.base_url.rsplit('@').next().unwrap_or_default();
    let address = url.split(['?', '#']).next().unwrap_or_default();
    redact(address, secrets(settings).iter().map(String::as_str))
}

/// The key, the values of the headers, and the proxy's account.
fn secrets(settings: &HttpSettings) -> Vec<String> {
    let key = settings.key.iter().map(|key| key.secret().to_owned());
    let proxy = settings.proxy.as_ref().and_then(|proxy| Url::parse(&proxy.url).ok());
    let password = proxy.and_then(|url| url.password().map(str::to_owned));
    key.chain(settings.headers.secrets()).chain(password).collect()
}
