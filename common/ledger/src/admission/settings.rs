//! `[budget]`: caps of runs, days and months, and the time zone.

use super::{AlertSettings, Budget, BudgetCalendar, Period, SharedBudget};
use juror_types::{
    budget_label::{BudgetLabel, LabelName},
    usage::{InvalidMoney, Money},
};
use serde::{Deserialize, Deserializer, de};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    marker::PhantomData,
    path::Path,
    str::FromStr,
};

/// `[budget]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BudgetSettings {
    /// Cap of one run.
    #[serde(deserialize_with = "optional_money")]
    pub run_usd: Option<Money>,
    /// Cap of all runs of a day; none leaves the cap in force.
    #[serde(deserialize_with = "optional_budget")]
    pub day_usd: Option<Budget>,
    /// Cap of all runs of a month; none leaves the cap in force.
    #[serde(deserialize_with = "optional_budget")]
    pub month_usd: Option<Budget>,
    /// Time zone in which days and months begin; none leaves the zone in force.
    pub zone: Option<BudgetCalendar>,
    /// Tags of runs, each with separate budgets.
    pub tags: Vec<LabelName>,
    /// Caps of single datasets, by their names.
    pub per_dataset: BTreeMap<LabelName, LabelCaps>,
    /// Caps of single tags.
    pub per_tag: BTreeMap<LabelName, LabelCaps>,
    /// Alerts at shares of each budget with a cap.
    pub alerts: Vec<AlertSettings>,
}

/// Caps of one dataset or tag.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LabelCaps {
    /// Cap of all its calls of a day; none leaves the cap in force.
    #[serde(deserialize_with = "optional_budget")]
    pub day_usd: Option<Budget>,
    /// Cap of all its calls of a month; none leaves the cap in force.
    #[serde(deserialize_with = "optional_budget")]
    pub month_usd: Option<Budget>,
}

impl BudgetSettings {
    /// Caps of all runs and of single labels that are set.
    pub fn shared_caps(&self) -> Vec<(SharedBudget, Budget)> {
        let mut caps = Vec::new();
        let mut add = |label: Option<BudgetLabel>, day: Option<Budget>, month: Option<Budget>| {
            for (period, cap) in [(Period::Day, day), (Period::Month, month)] {
                let budget = SharedBudget { period, label: label.clone() };
                caps.extend(cap.map(|cap| (budget, cap)));
            }
        };
        add(None, self.day_usd, self.month_usd);
        for (name, of) in &self.per_dataset {
            add(Some(BudgetLabel::Dataset(name.clone())), of.day_usd, of.month_usd);
        }
        for (name, of) in &self.per_tag {
            add(Some(BudgetLabel::Tag(name.clone())), of.day_usd, of.month_usd);
        }
        caps
    }

    /// Labels of a run over this dataset, sorted and unique.
    pub fn labels(&self, dataset: Option<&Path>) -> Vec<BudgetLabel> {
        let tags = self.tags.iter().cloned().map(BudgetLabel::Tag);
        let labels: BTreeSet<_> =
            dataset.map(BudgetLabel::for_dataset).into_iter().chain(tags).collect();
        labels.into_iter().collect()
    }
}

/// Parser of an amount from a text or a TOML number, which is taken by its shortest decimal form.
struct AmountVisitor<T> {
    expected: &'static str,
    amount: PhantomData<T>,
}

impl<T: FromStr<Err = InvalidMoney>> de::Visitor<'_> for AmountVisitor<T> {
    type Value = Option<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.expected)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Option<T>, E> {
        text.parse().map(Some).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, dollars: i64) -> Result<Option<T>, E> {
        self.visit_str(&dollars.to_string())
    }

    fn visit_f64<E: de::Error>(self, dollars: f64) -> Result<Option<T>, E> {
        self.visit_str(&dollars.to_string())
    }
}

fn optional_money<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Money>, D::Error> {
    let expected = "an amount in US dollars, as in \"5.00\"";
    deserializer.deserialize_any(AmountVisitor { expected, amount: PhantomData })
}

/// A cap is an amount as [`optional_money`] takes it, or the word that lifts one.
fn optional_budget<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Budget>, D::Error> {
    let expected = "an amount in US dollars, as in \"5.00\", or \"unlimited\"";
    deserializer.deserialize_any(AmountVisitor { expected, amount: PhantomData })
}
