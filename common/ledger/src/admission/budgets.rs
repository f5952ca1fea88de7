//! Budgets and what has been spent of them: pure arithmetic, no clock, no storage.

use super::Budget;
use jiff::{Timestamp, tz::TimeZone};
use juror_types::{id::RunId, usage::Money};
use std::fmt;

/// One of the budgets that a call counts against.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// The run that pays.
    Run(RunId),
    /// The UTC day of the admission, as in `2026-11-21`.
    Day(String),
    /// The UTC month of the admission, as in `2026-11`.
    Month(String),
}

impl Scope {
    /// The budgets of a call that this run makes at this time (milliseconds since 1970).
    pub fn all_of(run: &RunId, now: i64) -> [Self; 3] {
        let moment = Timestamp::from_millisecond(now).unwrap_or_default();
        let day = moment.to_zoned(TimeZone::UTC).date();
        let month = format!("{:04}-{:02}", day.year(), day.month());
        [Self::Run(run.clone()), Self::Day(day.to_string()), Self::Month(month)]
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
}

impl fmt::Display for Scope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(run) => write!(formatter, "run {run}"),
            Self::Day(day) => write!(formatter, "day {day} (UTC)"),
            Self::Month(month) => write!(formatter, "month {month} (UTC)"),
        }
    }
}

/// A stretch of time that has a budget of its own, whatever runs in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    /// Each UTC day.
    Day,
    /// Each UTC month.
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

    #[test]
    fn day_and_month_are_those_of_utc() {
        let keys = |now| Scope::all_of(&RunId::new("r"), now).map(|scope| scope.account_key());
        assert_eq!(keys(1_795_305_599_999), ["run:r", "day:2026-11-21", "month:2026-11"]);
        assert_eq!(keys(1_795_305_600_000), ["run:r", "day:2026-11-22", "month:2026-11"]);
    }
}
