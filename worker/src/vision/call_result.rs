//! Result of one call, by the caller's next step.

use juror_ledger::admission::{Observation, TokenCounting};
use juror_telemetry::CallResult;
use juror_types::{
    lane::Lane,
    usage::{Money, Usage},
};
use std::{fmt, time::Duration};

/// A call that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// End of the call.
    pub end: CallEnd,
    /// The provider's limits, as reported.
    pub limits: ProviderLimits,
    /// Time from the request to the end.
    pub latency: Duration,
    /// A warning for the user, given once per client and not at every call.
    pub warning: Option<String>,
}

impl Call {
    /// Observation of this call for admission, for this endpoint.
    pub fn observation(&self, endpoint: &str) -> Observation {
        Observation {
            endpoint: endpoint.to_owned(),
            requests_per_minute: self.limits.requests_per_minute,
            tokens_per_minute: self.limits.tokens_per_minute,
            refused: self.limits.refused,
            counting: TokenCounting::default(),
        }
    }
}

/// Limits of a provider, as reported with a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProviderLimits {
    /// Requests per minute that the account has.
    pub requests_per_minute: Option<u64>,
    /// Tokens per minute that the account has.
    pub tokens_per_minute: Option<u64>,
    /// Tokens that are left of them now.
    pub remaining_tokens: Option<u64>,
    /// The time after which all of them are available again.
    pub tokens_reset: Option<Duration>,
    /// The requested wait, if the provider refused by rate; zero if it states none.
    pub refused: Option<Duration>,
}

impl ProviderLimits {
    /// True if the provider reported a limit.
    pub fn are_reported(&self) -> bool {
        self.requests_per_minute.is_some() || self.tokens_per_minute.is_some()
    }
}

/// End of a call. Messages are the provider's or the network's, truncated and without secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallEnd {
    /// A well-formed reply; its content may still be unusable.
    Completed(Completion),
    /// The request did not reach the provider (name, connection, TLS): costs nothing.
    NotSent(String),
    /// Too many requests or tokens a minute: this call and all others must wait. Costs nothing.
    RateLimited {
        /// Wait requested by the provider, if any.
        retry_after: Option<Duration>,
        /// Message of the provider.
        message: String,
    },
    /// Account error: calls cannot succeed until a person acts. Costs nothing.
    Account {
        /// Problem that a person must solve.
        problem: AccountProblem,
        /// Message of the provider.
        message: String,
    },
    /// This request is refused permanently.
    Refused {
        /// The HTTP status.
        status: u16,
        /// Message of the provider.
        message: String,
        /// Billed usage, if the provider states that something was billed.
        usage: Option<Usage>,
    },
    /// The provider is unable to reply now, and billed nothing: retry later.
    Unavailable {
        /// The HTTP status.
        status: u16,
        /// Message of the provider.
        message: String,
    },
    /// Sent without a reply or a provider error, as with a gateway timeout: the call may be billed.
    Lost(String),
    /// A reply of status 200 that no model wrote, such as a log-in page or an error. Costs nothing.
    NotCompletion(String),
    /// Unusable response: a malformed envelope, or an error after the work was done.
    UnusableReply {
        /// Message of the provider.
        message: String,
        /// Billed usage; `None` if it cannot be read.
        usage: Option<Usage>,
    },
    /// Cancelled by the caller.
    Cancelled {
        /// True if the request was already on its way, so that it may be billed.
        sent: bool,
    },
}

impl CallEnd {
    /// The reply, if the call has one.
    pub fn answer(&self) -> Option<&Completion> {
        match self {
            Self::Completed(answer) => Some(answer),
            _ => None,
        }
    }

    /// The class of the result; a reply with a verdict and one without are different classes.
    pub fn result(&self, has_verdict: bool) -> CallResult {
        match self {
            Self::Completed(_) if has_verdict => CallResult::Answered,
            Self::Completed(_) | Self::UnusableReply { .. } | Self::NotCompletion(_) => {
                CallResult::Unusable
            }
            Self::NotSent(_) => CallResult::NotSent,
            Self::RateLimited { .. } => CallResult::RateLimited,
            Self::Account { .. } => CallResult::Account,
            Self::Refused { .. } => CallResult::Refused,
            Self::Unavailable { .. } => CallResult::Unavailable,
            Self::Lost(_) => CallResult::Lost,
            Self::Cancelled { .. } => CallResult::Cancelled,
        }
    }

    /// HTTP status of a refusal, if it is more specific than its class.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Refused { status, .. } | Self::Unavailable { status, .. } => Some(*status),
            _ => None,
        }
    }
}

/// Problem that keeps an account from calling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountProblem {
    /// The key is missing, wrong or revoked.
    Key,
    /// The account has no funds or quota left.
    Funds,
    /// The account may not do this.
    Permission,
    /// The provider does not know the model, or not for this account.
    Model,
    /// The base URL is wrong: there is no API at the address.
    Address,
    /// The account has used up its calls of a day.
    DayLimit,
    /// The model takes no images.
    Images,
    /// The server's certificate is not accepted, or TLS fails in another way for good.
    Certificate,
}

impl fmt::Display for AccountProblem {
    /// The problem with its remedy.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Key => "authentication failed; check the API key and the base URL",
            Self::Funds => "the account has no funds or quota left; add funds at the provider",
            Self::Permission => "the account may not make this call; check the key's permissions",
            Self::Model => "the vision API does not offer this model; check the model's name",
            Self::Address => "the vision API is not at this address; check the base URL",
            Self::DayLimit => {
                "the account's daily limit is reached; continue tomorrow, or raise it at the provider"
            }
            Self::Images => "this model does not accept images; choose one that does",
            Self::Certificate => "the vision API has no trusted TLS certificate",
        })
    }
}

/// A well-formed reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// The text; `None` if the model gave none.
    pub content: Option<String>,
    /// Text of the model's refusal.
    pub refusal: Option<String>,
    /// Reason why the text ended.
    pub finish: Finish,
    /// Billed usage; `None` if the provider does not state it, so that the worst case counts.
    pub usage: Option<Usage>,
    /// Input tokens that were written into the provider's prompt cache; `None` if it is not stated.
    pub cache_write_tokens: Option<u64>,
    /// The responding model and the fingerprint of its backend, as far as the reply names them.
    pub fingerprint: Option<String>,
    /// Responding model, as named in the reply.
    pub model: Option<String>,
    /// Lane of the call, as the reply states it; realtime if it does not.
    pub lane: Lane,
    /// Service tier that is dearer than the lane's price, if the reply names one.
    pub dearer_tier: Option<String>,
    /// Cost of the call, if the reply states it.
    pub cost: Option<Money>,
    /// True if the reply is from the simulator.
    pub simulated: bool,
}

/// Reason why a reply's text ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Finish {
    /// The model finished.
    Stop,
    /// The limit of output tokens truncated it.
    Length,
    /// The provider's content filter truncated it.
    ContentFilter,
    /// Another reason, or none stated.
    #[default]
    Other,
}
