//! `[budget]`: caps over runs, days and months, and when those begin.

use super::{AlertSettings, Budget, BudgetCalendar};
use juror_types::usage::Money;
use serde::{Deserialize, Deserializer, de};
use std::fmt;

/// `[budget]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BudgetSettings {
    /// For one run.
    #[serde(deserialize_with = "optional_money")]
    pub run_usd: Option<Money>,
    /// For all runs of a day; none leaves what stands.
    #[serde(deserialize_with = "optional_budget")]
    pub day_usd: Option<Budget>,
    /// For all runs of a month; none leaves what stands.
    #[serde(deserialize_with = "optional_budget")]
    pub month_usd: Option<Budget>,
    /// Time zone in which days and months begin; none leaves what stands.
    pub zone: Option<BudgetCalendar>,
    /// Messages at shares of each budget that has a cap.
    pub alerts: Vec<AlertSettings>,
}

/// Money is a decimal; a TOML number is taken by its shortest decimal form.
fn optional_money<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Money>, D::Error> {
    deserializer.deserialize_any(AmountVisitor).map(Some)
}

/// An amount as [`optional_money`] takes it is a cap, and a word lifts one.
fn optional_budget<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Budget>, D::Error> {
    deserializer.deserialize_any(BudgetVisitor).map(Some)
}

/// The word for no cap.
const UNLIMITED: &str = "unlimited";

struct AmountVisitor;

impl de::Visitor<'_> for AmountVisitor {
    type Value = Money;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an amount in US dollars, as in \"5.00\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Money, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, dollars: i64) -> Result<Money, E> {
        self.visit_str(&dollars.to_string())
    }

    fn visit_f64<E: de::Error>(self, dollars: f64) -> Result<Money, E> {
        self.visit_str(&dollars.to_string())
    }
}

struct BudgetVisitor;

impl de::Visitor<'_> for BudgetVisitor {
    type Value = Budget;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "an amount in US dollars, as in \"5.00\", or \"{UNLIMITED}\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Budget, E> {
        match text {
            UNLIMITED => Ok(Budget::Unlimited),
            amount => AmountVisitor.visit_str(amount).map(Budget::Cap),
        }
    }

    fn visit_i64<E: de::Error>(self, dollars: i64) -> Result<Budget, E> {
        AmountVisitor.visit_i64(dollars).map(Budget::Cap)
    }

    fn visit_f64<E: de::Error>(self, dollars: f64) -> Result<Budget, E> {
        AmountVisitor.visit_f64(dollars).map(Budget::Cap)
    }
}
