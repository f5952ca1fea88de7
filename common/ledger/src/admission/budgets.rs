//! Budgets and what has been spent of them: pure arithmetic, no clock, no storage.

use super::Budget;
use jiff::civil::Date;
use juror_types::{id::RunId, usage::Money};
use std::fmt;

/// One of the budgets that a call counts against.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// The run that pays.
    Run(RunId),
    /// The day of the admission in the ledger's zone, as in `2026-11-21`.
    Day(String),
    /// The month of the admission in the ledger's zone, as in `2026-11`.
    Month(String),
}

impl Scope {
    /// The budgets of a call that this run makes on this day.
    pub fn all_of(run: &RunId, day: Date) -> [Self; 3] {
        [Self::Run(run.clone()), Self::of_day(day), Self::of_month(day)]
    }

    /// The budget of a day.
    pub(crate) fn of_day(day: Date) -> Self {
        Self::Day(day.to_string())
    }

    /// The budget of the month of a day.
    pub(crate) fn of_month(day: Date) -> Self {
        Self::Month(format!("{:04}-{:02}", day.year(), day.month()))
    }

    /// Under which name the cap is written down: each run has its own, all days share one, and
    /// so do all months.
    pub fn budget_key(&self) -> String {
        match self {
            Self::Run(run) => format!("run:{run}"),
            Self::Day(_) => Period::Day.budget_key().to_owned(),
            Self::Month(_) => Period::Month.budget_key().to_owned(),
        }
    }

    /// Under which name the spending is written down.
    pub fn account_key(&self) -> String {
        match self {
            Self::Run(run) => format!("run:{run}"),
            Self::Day(day) => format!("day:{day}"),
            Self::Month(month) => format!("month:{month}"),
        }
    }

    /// Kind of the day's or the month's budget; none for a run's.
    pub fn period(&self) -> Option<Period> {
        match self {
            Self::Run(_) => None,
            Self::Day(_) => Some(Period::Day),
            Self::Month(_) => Some(Period::Month),
        }
    }

    /// Name of the run, the day or the month.
    pub fn name(&self) -> &str {
        match self {
            Self::Run(run) => run.as_str(),
            Self::Day(name) | Self::Month(name) => name,
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(run) => write!(formatter, "run {run}"),
            Self::Day(day) => write!(formatter, "day {day}"),
            Self::Month(month) => write!(formatter, "month {month}"),
        }
    }
}

/// A stretch of time that has a budget of its own, whatever runs in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    /// Each day.
    Day,
    /// Each month.
    Month,
}

impl Period {
    /// The name of the period's budget in the ledger, the same for all its days or months.
    pub fn budget_key(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Month => "month",
        }
    }
}

/// Money spent and held in one scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Settled and presumed spent.
    pub committed: Money,
    /// The part of `committed` that no result tells.
    pub presumed: Money,
    /// Held by calls in flight.
    pub outstanding: Money,
    /// By how much bills exceeded their reservations, in sum.
    pub overrun: Money,
    /// Whether a bill above its bound has stopped admission. Only ever set for a run.
    pub stopped: bool,
}

/// Whether a scope has headroom for a worst case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Headroom {
    /// It fits now.
    Available,
    /// Only what is outstanding, or was asked for earlier, stands in the way.
    Reserved,
    /// It will never fit, for this reason.
    Exceeded(String),
}

/// Decides on one scope. `ahead` is what callers who came earlier and still wait want of it:
/// they count as if they were served already, so that a large ask is not starved by small ones.
pub fn headroom(
    scope: &Scope,
    budget: Option<Budget>,
    account: &Account,
    worst: Money,
    ahead: Money,
) -> Headroom {
    let Some(budget) = budget else {
        return Headroom::Exceeded(format!(
            "{scope} has no budget on record, not even an unlimited one"
        ));
    };
    if account.stopped {
        return Headroom::Exceeded(format!(
            "{scope} was stopped because a bill exceeded its bound (by {} USD so far): correct the model's price or image formula, then resume",
            account.overrun.exact()
        ));
    }
    let committed = i128::from(account.committed.pico()) + i128::from(worst.pico());
    let held = committed + i128::from(account.outstanding.pico());
    let Budget::Cap(cap) = budget else {
        // Sums of money saturate; a ledger near that end could no longer tell the truth.
        return if held < i128::from(Money::MAX.pico()) {
            Headroom::Available
        } else {
            Headroom::Exceeded(format!("{scope} cannot book more than {} USD", Money::MAX.exact()))
        };
    };
    let cap_pico = i128::from(cap.pico());
    if committed > cap_pico {
        return Headroom::Exceeded(format!(
            "{scope} has spent {} of {} USD, and the next call may cost up to {} USD",
            account.committed.exact(),
            cap.exact(),
            worst.exact()
        ));
    }
    if held + i128::from(ahead.pico()) > cap_pico {
        Headroom::Reserved
    } else {
        Headroom::Available
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(committed: i64, outstanding: i64) -> Account {
        Account {
            committed: Money::from_pico(committed),
            outstanding: Money::from_pico(outstanding),
            ..Account::default()
        }
    }

    fn run() -> Scope {
        Scope::Run(RunId::new("nightly"))
    }

    #[test]
    fn a_cap_is_used_to_the_last_pico_dollar_and_no_further() {
        let cap = Some(Budget::Cap(Money::from_pico(10)));
        let decide = |committed, outstanding, worst, ahead| {
            let account = account(committed, outstanding);
            headroom(&run(), cap, &account, Money::from_pico(worst), Money::from_pico(ahead))
        };
        assert_eq!(decide(3, 3, 4, 0), Headroom::Available);
        assert_eq!(decide(3, 4, 4, 0), Headroom::Reserved);
        assert_eq!(decide(3, 3, 4, 1), Headroom::Reserved);
        assert!(matches!(decide(7, 0, 4, 0), Headroom::Exceeded(_)));
    }

    #[test]
    fn no_record_means_no_and_unlimited_means_yes() {
        let account = account(0, 0);
        let one = Money::from_pico(1);
        assert!(matches!(
            headroom(&run(), None, &account, one, Money::ZERO),
            Headroom::Exceeded(_)
        ));
        let unlimited = Some(Budget::Unlimited);
        assert_eq!(headroom(&run(), unlimited, &account, one, Money::MAX), Headroom::Available);
        let absurd = headroom(&run(), unlimited, &account, Money::MAX, Money::ZERO);
        assert!(matches!(absurd, Headroom::Exceeded(_)));
    }
}
