//! `[[budget.alerts]]`: alerts at shares of a budget.

use juror_types::usage::Money;
use serde::Deserialize;

/// Entry of `[[budget.alerts]]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "RawAlert")]
pub struct AlertSettings {
    /// Share of a budget at which it is sent.
    pub at: AlertShare,
    /// Receiver of the alert.
    pub target: AlertTarget,
}

/// Share of a budget, above 0 and at most 1.
#[derive(Clone, Debug, PartialEq)]
pub struct AlertShare {
    share: f64,
    text: String,
}

/// Receiver of an alert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlertTarget {
    /// Program with its arguments.
    Command(Vec<String>),
    /// Address that the message is posted to; it may hold a secret.
    Webhook(String),
}

/// An invalid alert.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InvalidAlert {
    /// A share that is not above 0 and at most 1.
    #[error("at = {0} is not a share of a budget: use a number above 0 and at most 1, as in 0.8")]
    Share(f64),
    /// No receiver, or two.
    #[error(
        "an alert needs a command or a webhook, and not both: give command = [\"program\"] or webhook = \"https://…\""
    )]
    Target,
    /// An address of another kind.
    #[error("the webhook of an alert must begin with https:// or http://")]
    Address,
}

/// Resolution of a share: millionths.
const PARTS: f64 = 1_000_000.0;

impl AlertShare {
    /// A share.
    ///
    /// # Errors
    /// A number that is not above 0 and at most 1.
    pub fn new(share: f64) -> Result<Self, InvalidAlert> {
        // Less than a millionth is none.
        match share * PARTS >= 1.0 && share <= 1.0 {
            true => Ok(Self { share, text: share.to_string() }),
            false => Err(InvalidAlert::Share(share)),
        }
    }

    /// The share as a number.
    pub fn share(&self) -> f64 {
        self.share
    }

    /// The share as a text, the ledger's key of it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// True if `spent` is at least this share of the cap. A cap of zero has no shares.
    pub fn is_reached(&self, spent: Money, cap: Money) -> bool {
        let parts = (self.share * PARTS).round() as i128;
        cap > Money::ZERO
            && i128::from(spent.pico()) * (PARTS as i128) >= i128::from(cap.pico()) * parts
    }
}

impl AlertTarget {
    /// Name of the kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Command(_) => "command",
            Self::Webhook(_) => "webhook",
        }
    }
}

impl TryFrom<RawAlert> for AlertSettings {
    type Error = InvalidAlert;

    fn try_from(raw: RawAlert) -> Result<Self, InvalidAlert> {
        let at = AlertShare::new(raw.at)?;
        let target = match (raw.command.is_empty(), raw.webhook) {
            (false, None) => AlertTarget::Command(raw.command),
            (true, Some(url)) if url.starts_with("https://") || url.starts_with("http://") => {
                AlertTarget::Webhook(url)
            }
            (true, Some(_)) => return Err(InvalidAlert::Address),
            (true, None) | (false, Some(_)) => return Err(InvalidAlert::Target),
        };
        Ok(Self { at, target })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAlert {
    at: f64,
    #[serde(default)]
    command: Vec<String>,
    webhook: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alert_share_is_exact_to_one_pico_dollar() {
        let share = AlertShare::new(0.8).unwrap();
        let reached = |spent, cap| share.is_reached(Money::from_pico(spent), Money::from_pico(cap));
        assert!(reached(8, 10) && reached(9_000_000_000, 10_000_000_000));
        assert!(!reached(7_999_999_999, 10_000_000_000));
        assert!(!reached(0, 0) && !reached(5, 0), "a cap of nothing has no shares");
        assert_eq!(share.text(), "0.8");
        for wrong in [0.0, -0.5, 1.01, f64::NAN, f64::INFINITY] {
            assert!(AlertShare::new(wrong).is_err(), "{wrong}");
        }
    }
}
