//! HTTP client of all object stores: no proxy, no redirects, one TLS implementation, and statuses
//! as errors.

use super::failure::ErrorStatus;
use async_trait::async_trait;
use juror_types::error_chain::with_causes;
use object_store::{
    ClientOptions,
    client::{
        HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
    },
};
use reqwest::{Client, StatusCode, redirect};
use std::time::Duration;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Factory that returns the same client for every store.
#[derive(Clone, Debug)]
pub(super) struct Connector(Client);

impl Connector {
    pub(super) fn new(timeout: Duration, tls: bool) -> Result<Self, String> {
        // It fails only if a provider is installed already, which works as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = Client::builder()
            .user_agent(concat!("juror/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT.min(timeout))
            .timeout(timeout)
            .redirect(redirect::Policy::none())
            .retry(reqwest::retry::never())
            .no_proxy();
        // Without TLS the system's certificates need not be read.
        let builder = if tls { builder } else { builder.tls_certs_only([]) };
        builder.build().map(Self).map_err(|error| {
            let causes = with_causes(&error);
            format!("HTTPS cannot be set up: {causes}; are the system's CA certificates installed?")
        })
    }
}

impl HttpConnector for Connector {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(ObjectConnection(self.0.clone())))
    }
}

#[derive(Debug)]
struct ObjectConnection(Client);

#[async_trait]
impl HttpService for ObjectConnection {
    /// Sends a request; an error status becomes an error with that status.
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let response = self.0.call(request).await?;
        let status = response.status();
        let is_left_to_object_store = status.is_success()
            || [
                StatusCode::NOT_MODIFIED,
                StatusCode::NOT_FOUND,
                StatusCode::CONFLICT,
                StatusCode::PRECONDITION_FAILED,
            ]
            .contains(&status);
        if is_left_to_object_store {
            return Ok(response);
        }
        let error = ErrorStatus { status: status.as_u16() };
        let kind = match error.may_pass() {
            true => HttpErrorKind::Request,
            false => HttpErrorKind::Unknown,
        };
        Err(HttpError::new(kind, error))
    }
}
