//! Budgets that a call counts against: that of its run, and shared ones.

use jiff::civil::Date;
use juror_types::{budget_label::BudgetLabel, id::RunId};
use std::fmt;

/// Budget that a call counts against.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// The run that pays.
    Run(RunId),
    /// The day of the admission in the ledger's zone, as in `2026-11-21`.
    Day(String),
    /// The month of the admission in the ledger's zone, as in `2026-11`.
    Month(String),
    /// A label in the day of the admission.
    LabelDay(String, BudgetLabel),
    /// A label in the month of the admission.
    LabelMonth(String, BudgetLabel),
}

impl Scope {
    /// The budgets of a call of this run on this day under these labels.
    pub fn all_of(run: &RunId, labels: &[BudgetLabel], day: Date) -> Vec<Self> {
        let mut scopes = vec![Self::Run(run.clone()), Self::for_day(day), Self::for_month(day)];
        for label in labels {
            for period in Period::ALL {
                scopes.push(SharedBudget { period, label: Some(label.clone()) }.scope(day));
            }
        }
        scopes
    }

    /// The budget of a day.
    pub(crate) fn for_day(day: Date) -> Self {
        Self::Day(day.to_string())
    }

    /// The budget of the month of a day.
    pub(crate) fn for_month(day: Date) -> Self {
        Self::Month(month_of(day))
    }

    /// Key of the cap's record: each run has its own, all days share one, and so do all months,
    /// also those of one label.
    pub fn budget_key(&self) -> String {
        match self.shared() {
            None => self.account_key(),
            Some(shared) => shared.key(),
        }
    }

    /// Key of the account's record.
    pub fn account_key(&self) -> String {
        match self {
            Self::Run(run) => format!("run:{run}"),
            Self::Day(day) => format!("day:{day}"),
            Self::Month(month) => format!("month:{month}"),
            Self::LabelDay(day, label) => format!("day:{day}:{label}"),
            Self::LabelMonth(month, label) => format!("month:{month}:{label}"),
        }
    }

    /// The scope of an account's key; none for any other text.
    pub fn from_account_key(key: &str) -> Option<Self> {
        if let Some(run) = key.strip_prefix("run:") {
            return Some(Self::Run(RunId::new(run)));
        }
        let (period, name) = key.split_once(':')?;
        let (name, label) = match name.split_once(':') {
            Some((name, label)) => (name, Some(label.parse().ok()?)),
            None => (name, None),
        };
        let name = name.to_owned();
        match (period, label) {
            ("day", None) => Some(Self::Day(name)),
            ("month", None) => Some(Self::Month(name)),
            ("day", Some(label)) => Some(Self::LabelDay(name, label)),
            ("month", Some(label)) => Some(Self::LabelMonth(name, label)),
            _ => None,
        }
    }

    /// The shared budget of this scope; none for a run's own.
    pub fn shared(&self) -> Option<SharedBudget> {
        let (period, label) = match self {
            Self::Run(_) => return None,
            Self::Day(_) => (Period::Day, None),
            Self::Month(_) => (Period::Month, None),
            Self::LabelDay(_, label) => (Period::Day, Some(label.clone())),
            Self::LabelMonth(_, label) => (Period::Month, Some(label.clone())),
        };
        Some(SharedBudget { period, label })
    }

    /// Period of the budget; none for a run's.
    pub fn period(&self) -> Option<Period> {
        self.shared().map(|shared| shared.period)
    }

    /// Name of the run, the day or the month.
    pub fn name(&self) -> &str {
        match self {
            Self::Run(run) => run.as_str(),
            Self::Day(name)
            | Self::Month(name)
            | Self::LabelDay(name, _)
            | Self::LabelMonth(name, _) => name,
        }
    }

    /// The label of the budget; none for a run's and for those of all runs.
    pub fn label(&self) -> Option<&BudgetLabel> {
        match self {
            Self::LabelDay(_, label) | Self::LabelMonth(_, label) => Some(label),
            Self::Run(_) | Self::Day(_) | Self::Month(_) => None,
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(run) => write!(formatter, "run {run}"),
            Self::Day(day) => write!(formatter, "day {day}"),
            Self::Month(month) => write!(formatter, "month {month}"),
            Self::LabelDay(day, label) => {
                write!(formatter, "{} {} on day {day}", label.kind(), label.name())
            }
            Self::LabelMonth(month, label) => {
                write!(formatter, "{} {} in month {month}", label.kind(), label.name())
            }
        }
    }
}

/// A budget of each day or each month, over all runs of a ledger or those of one label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SharedBudget {
    /// Period with which it is renewed.
    pub period: Period,
    /// The label whose calls it covers; none for all calls.
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
        match (self.period, &self.label) {
            (Period::Day, None) => Scope::for_day(day),
            (Period::Month, None) => Scope::for_month(day),
            (Period::Day, Some(label)) => Scope::LabelDay(day.to_string(), label.clone()),
            (Period::Month, Some(label)) => Scope::LabelMonth(month_of(day), label.clone()),
        }
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

fn month_of(day: Date) -> String {
    format!("{:04}-{:02}", day.year(), day.month())
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
