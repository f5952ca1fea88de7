//! HTTP client of all object stores: no proxy, no redirects, one TLS implementation, and statuses
//! as errors.

use super::failure::ErrorStatus;
use crate::http_client_builder;
use async_trait::async_trait;
use juror_types::error_chain::with_causes;
use object_store::{
    ClientOptions,
    client::{
        HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
    },
};
use reqwest::{Client, StatusCode};
use std::time::Duration;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Factory that returns the same client for every store.
#[derive(Clone, Debug)]
pub(super) struct Connector(Client);

impl Connector {
    pub(super) fn new(timeout: Duration, tls: bool) -> Result<Self, String> {
        let builder =
            http_client_builder(tls).connect_timeout(CONNECT_TIMEOUT.min(timeout)).timeout(timeout);
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
