//! Faults of an answer, by name.

use std::{fmt, str::FromStr};

macro_rules! faults {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// A fault of one reply.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Fault {
            $($(#[$doc])* $variant,)*
        }

        impl Fault {
            /// All faults.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name on the command line and in the statistics.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

faults! {
    /// 429: too many requests or tokens in a minute.
    RateLimit = "rate-limit",
    /// 429: the account has no funds.
    InsufficientQuota = "insufficient-quota",
    /// 401: the key is not known.
    Unauthorized = "unauthorized",
    /// 402: the account has to be paid for.
    PaymentRequired = "payment-required",
    /// 403: the key may not do this.
    Forbidden = "forbidden",
    /// 404: there is no such model.
    ModelNotFound = "model-not-found",
    /// 400: the request is malformed.
    BadRequest = "bad-request",
    /// 400: the images or texts are not allowed.
    ContentPolicy = "content-policy",
    /// 413: the request is too large.
    TooLarge = "too-large",
    /// 408: the request timed out.
    Timeout = "timeout",
    /// 409: a conflicting request is in progress.
    Conflict = "conflict",
    /// 500: the server failed.
    ServerError = "server-error",
    /// 503: the server is unavailable.
    Unavailable = "unavailable",
    /// 529: the server is overloaded.
    Overloaded = "overloaded",
    /// No answer until the client gives up or the simulator ends.
    Hang = "hang",
    /// The connection is closed before any byte of an answer.
    Reset = "reset",
    /// The connection is closed in the middle of the answer.
    Cut = "cut",
    /// The answer's body comes in drops.
    Slow = "slow",
    /// The verdict ends in the middle.
    Truncated = "truncated",
    /// The verdict is in a fenced block.
    Fenced = "fenced",
    /// The verdict is between sentences.
    Prose = "prose",
    /// The model refuses to answer.
    Refusal = "refusal",
    /// The answer ends at the output limit.
    Length = "length",
    /// The answer is withheld by a filter.
    ContentFilter = "content-filter",
    /// A score lies beyond its scale.
    OutOfRange = "out-of-range",
    /// A score is not a whole number.
    Fractional = "fractional",
    /// The scores are strings.
    StringScores = "string-scores",
    /// A score is missing.
    MissingKeys = "missing-keys",
    /// The answer has no content.
    Empty = "empty",
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Fault {
    type Err = InvalidFault;

    fn from_str(text: &str) -> Result<Self, InvalidFault> {
        let known = Self::ALL.iter().find(|fault| fault.name() == text);
        known.copied().ok_or_else(|| InvalidFault::Name(text.to_owned()))
    }
}

/// A fault and the share of answers that it spoils; written `server-error=0.05`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FaultRate {
    /// The fault.
    pub fault: Fault,
    /// 0 to 1.
    pub rate: f64,
}

impl FromStr for FaultRate {
    type Err = InvalidFault;

    fn from_str(text: &str) -> Result<Self, InvalidFault> {
        let (name, rate) =
            text.split_once('=').ok_or_else(|| InvalidFault::Form(text.to_owned()))?;
        let fault = name.parse()?;
        let share = rate.parse().ok().filter(|rate| (0.0..=1.0).contains(rate));
        let rate = share.ok_or_else(|| InvalidFault::Rate(rate.to_owned()))?;
        Ok(Self { fault, rate })
    }
}

/// An invalid fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidFault {
    /// No such fault.
    #[error("unknown fault {0:?}; use one of: {names}", names = all_names())]
    Name(String),
    /// Not written as it should be.
    #[error("{0:?} is not a fault with a rate: use NAME=RATE, as in server-error=0.05")]
    Form(String),
    /// No share.
    #[error("{0:?} is not a rate: use a number from 0 to 1")]
    Rate(String),
}

fn all_names() -> String {
    Fault::ALL.iter().map(|fault| fault.name()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back() {
        for fault in Fault::ALL {
            assert_eq!(fault.name().parse(), Ok(*fault));
        }
    }

    #[test]
    fn a_rate_is_a_share_of_a_known_fault() {
        let parsed: FaultRate = "server-error=0.05".parse().unwrap();
        assert_eq!(parsed, FaultRate { fault: Fault::ServerError, rate: 0.05 });
        for bad in ["server-error", "server-error=", "reset=1.5", "reset=-0.1", "reset=NaN"] {
            assert!(bad.parse::<FaultRate>().is_err(), "{bad}");
        }
        let message = "burn=1".parse::<FaultRate>().unwrap_err().to_string();
        assert!(message.contains("\"burn\"") && message.contains("content-filter"), "{message}");
    }
}
