//! The vision API: a request as data, one client per provider, and the result of a call.

mod batch;
mod call_result;
mod credentials;
mod http;
mod http_settings;
pub mod openai;
mod redact;
mod request;
mod request_bodies;
pub(crate) mod response_headers;

pub use batch::{
    BatchEnding, BatchError, BatchLimits, BatchMark, BatchProvider, BatchStatus, DroppedOption,
    EndedBatch, RequestOptions, RowCounts, RowOutput, TokenLimitRefusal,
};
pub use call_result::{AccountProblem, Call, CallEnd, Completion, Finish, ProviderLimits};
pub use credentials::{ApiKey, ExtraHeaders, InvalidApiKey, InvalidHeader};
pub use http_settings::{HttpSettings, ProxySettings, SetupError};
pub use request::{Request, RequestImage};

use async_trait::async_trait;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Vision API of one provider, with one base URL and one key.
#[async_trait]
pub trait VisionClient: Send + Sync {
    /// Sends the request once and returns the end of the call. Never retries a call that may be
    /// billed. `cancel` drops the call at any point.
    async fn call(&self, request: &Request, cancel: &CancellationToken) -> Call;

    /// Requests the list of models: a call that costs nothing and shows if address and key are
    /// right, and sometimes which inputs this model takes.
    async fn probe(&self, model: &str) -> Result<ProbeReport, ProbeError>;

    /// True if the model takes images, according to servers that report it without a charge; `None`
    /// for other servers.
    async fn takes_images(&self, model: &str) -> Option<bool>;
}

/// Result of a free call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeReport {
    /// The models that the provider lists, by name; empty where it lists none.
    pub models: Vec<String>,
    /// True if the model takes images, if the list states it.
    pub takes_images: Option<bool>,
    /// True if the reply is from the simulator.
    pub simulated: bool,
    /// Latency of the reply.
    pub latency: Duration,
}

/// Reason why a free call failed, by the user's next step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum ProbeError {
    /// There is no connection or no response: check the address, or that the server runs.
    #[error(
        "no reply from the vision API: {0}; check the base URL, the network, and that the server runs"
    )]
    Unreachable(String),
    /// The account is rejected: the key, its funds or its permission must be corrected.
    #[error("{problem}: {message}")]
    Account {
        problem: AccountProblem,
        /// The provider's message.
        message: String,
    },
    /// The server responds without a list of models. Some servers have no such list and can still
    /// be called.
    #[error("the vision API returned no list of models (status {status}): {message}")]
    NoList {
        /// The HTTP status.
        status: u16,
        /// The provider's message.
        message: String,
    },
}
