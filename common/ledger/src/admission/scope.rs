//! Budgets that a call counts against: that of its run, and shared ones.

use jiff::civil::Date;
use juror_types::{budget_label::BudgetLabel, id::RunId};
use std::fmt;

/// Budget that a call counts against.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// The run that pays.
    Run(RunId),
    /// A shared budget in one of its days or months.
    Shared {
        /// Budget of several runs.
        budget: SharedBudget,
        /// The day or the month of the admission in the ledger's zone, as in `2026-11-21` or
        /// `2026-11`.
        name: String,
    },
}

impl Scope {
    /// The budgets of a call of this run on this day under these labels.
    pub fn all_of(run: &RunId, labels: &[BudgetLabel], day: Date) -> Vec<Self> {
        let mut scopes = vec![Self::Run(run.clone())];
        for label in [None].into_iter().chain(labels.iter().map(Some)) {
            for period in Period::ALL {
                scopes.push(SharedBudget { period, label: label.cloned() }.scope(day));
            }
        }
        scopes
    }

    /// Key of the cap's record: each run has its own, all days share one, and so do all months,
    /// also those of one label.
    pub fn budget_key(&self) -> String {
        match self {
            Self::Run(_) => self.account_key(),
            Self::Shared { budget, .. } => budget.key(),
        }
    }

    /// Key of the account's record.
    pub fn account_key(&self) -> String {
        match self {
            Self::Run(run) => format!("run:{run}"),
            Self::Shared { budget: SharedBudget { period, label }, name } => {
                let period = period.budget_key();
                match label {
                    None => format!("{period}:{name}"),
                    Some(label) => format!("{period}:{name}:{label}"),
                }
            }
        }
    }

    /// The scope of an account's key; `None` for any other text.
    pub fn from_account_key(key: &str) -> Option<Self> {
        if let Some(run) = key.strip_prefix("run:") {
            return Some(Self::Run(RunId::new(run)));
        }
        let (period, name) = key.split_once(':')?;
        let period = Period::ALL.into_iter().find(|known| known.budget_key() == period)?;
        let (name, label) = match name.split_once(':') {
            Some((name, label)) => (name, Some(label.parse().ok()?)),
            None => (name, None),
        };
        Some(Self::Shared { budget: SharedBudget { period, label }, name: name.to_owned() })
    }

    /// The shared budget of this scope; `None` for a run's own.
    pub fn shared(&self) -> Option<&SharedBudget> {
        match self {
            Self::Run(_) => None,
            Self::Shared { budget, .. } => Some(budget),
        }
    }

    /// Period of the budget; `None` for a run's.
    pub fn period(&self) -> Option<Period> {
        self.shared().map(|shared| shared.period)
    }

    /// Name of the run, the day or the month.
    pub fn name(&self) -> &str {
        match self {
            Self::Run(run) => run.as_str(),
            Self::Shared { name, .. } => name,
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (SharedBudget { period, label }, name) = match self {
            Self::Run(run) => return write!(formatter, "run {run}"),
            Self::Shared { budget, name } => (budget, name),
        };
        if let Some(label) = label {
            let preposition = match period {
                Period::Day => "on",
                Period::Month => "in",
            };
            write!(formatter, "{} {} {preposition} ", label.kind(), label.name())?;
        }
        write!(formatter, "{} {name}", period.budget_key())
    }
}

/// A budget of each day or each month, over all runs of a ledger or those of one label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SharedBudget {
    /// Period with which it is renewed.
    pub period: Period,
    /// The label whose calls it covers; `None` for all calls.
    pub label: Option<BudgetLabel>,
}

impl SharedBudget {
    /// Key of its cap, as in `day` or `month:tag:team-checkout`.
    pub fn key(&self) -> String {
        let period = self.period.budget_key();
        match &self.label {
            None => period.to_owned(),
            Some(label) => format!("{period}:{label}"),
        }
    }

    /// The command that sets its cap, without the options that locate the ledger.
    pub fn command(&self) -> String {
        let command = format!("juror budget set {} AMOUNT", self.period.budget_key());
        match &self.label {
            None => command,
            Some(label) => format!("{command} --{} {}", label.kind(), label.name()),
        }
    }

    /// The setting of its cap, as in `budget.day_usd` or `budget.per_tag.checkout.day_usd`.
    pub fn setting(&self) -> String {
        let period = self.period.budget_key();
        match &self.label {
            None => format!("budget.{period}_usd"),
            Some(label) => format!("budget.per_{}.{}.{period}_usd", label.kind(), label.name()),
        }
    }

    /// The scope of this budget on a day.
    pub fn scope(&self, day: Date) -> Scope {
        let name = match self.period {
            Period::Day => day.to_string(),
            Period::Month => format!("{:04}-{:02}", day.year(), day.month()),
        };
        Scope::Shared { budget: self.clone(), name }
    }
}

impl From<Period> for SharedBudget {
    fn from(period: Period) -> Self {
        Self { period, label: None }
    }
}

/// Budget period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Period {
    /// Each day.
    Day,
    /// Each month.
    Month,
}

impl Period {
    /// Days and months.
    pub const ALL: [Self; 2] = [Self::Day, Self::Month];

    /// The name of the period's budget in the ledger, the same for all its days or months.
    pub fn budget_key(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Month => "month",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scope_parses_from_its_account_name() {
        let labels = ["dataset:golden", "tag:checkout"].map(|label| label.parse().unwrap());
        let day = "2026-11-21".parse().unwrap();
        let scopes = Scope::all_of(&RunId::new("nightly"), &labels, day);
        let keys: Vec<String> = scopes.iter().map(Scope::account_key).collect();
        assert_eq!(
            keys,
            [
                "run:nightly",
                "day:2026-11-21",
                "month:2026-11",
                "day:2026-11-21:dataset:golden",
                "month:2026-11:dataset:golden",
                "day:2026-11-21:tag:checkout",
                "month:2026-11:tag:checkout",
            ]
        );
        for (key, scope) in keys.iter().zip(scopes) {
            assert_eq!(Scope::from_account_key(key), Some(scope));
        }
        for wrong in ["", "week:2026", "day:2026-11-21:team:a", "day:2026-11-21:tag:"] {
            assert_eq!(Scope::from_account_key(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_shared_budget_names_its_cap_its_setting_and_its_command() {
        let label = Some("tag:checkout".parse().unwrap());
        let budget = SharedBudget { period: Period::Month, label };
        assert_eq!(budget.key(), "month:tag:checkout");
        assert_eq!(budget.setting(), "budget.per_tag.checkout.month_usd");
        assert_eq!(budget.command(), "juror budget set month AMOUNT --tag checkout");
        assert_eq!(SharedBudget::from(Period::Day).command(), "juror budget set day AMOUNT");
    }
}
