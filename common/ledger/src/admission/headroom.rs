//! Decision on one budget: pure arithmetic, without clock and storage. Redis decides the same in
//! `redis/lua/admit.lua`; a test compares both.

use super::{Budget, scope::Scope};
use juror_types::usage::Money;

/// Money spent and held in one scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Settled and presumed spent.
    pub committed: Money,
    /// The part of `committed` in no result.
    pub presumed: Money,
    /// Reserved by calls in flight.
    pub outstanding: Money,
    /// Sum of the amounts by which bills exceeded their reservations.
    pub overrun: Money,
    /// True if a bill above its bound has stopped admission. Only ever set for a run.
    pub stopped: bool,
}

/// Headroom of a scope for a worst case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Headroom {
    /// The worst case fits now.
    Available,
    /// Outstanding or earlier requests stand in the way for now.
    Reserved,
    /// The worst case will never fit, for this reason.
    Exceeded(String),
}

/// Decides on one scope. `ahead` is the demand of earlier callers that still wait: it counts as
/// granted, so that a large request is not starved by small ones.
pub fn headroom(
    scope: &Scope,
    budget: Option<Budget>,
    account: &Account,
    worst: Money,
    ahead: Money,
) -> Headroom {
    let Some(budget) = budget else {
        return Headroom::Exceeded(format!("{scope} has no budget record"));
    };
    if account.stopped {
        return Headroom::Exceeded(format!(
            "{scope} is stopped: a bill exceeded its upper bound (by {} USD so far); correct the model's price or image formula, then resume",
            account.overrun.exact()
        ));
    }
    let committed = i128::from(account.committed.pico()) + i128::from(worst.pico());
    let held = committed + i128::from(account.outstanding.pico());
    let Budget::Cap(cap) = budget else {
        // Sums of money saturate; a ledger near that limit would be inexact.
        return if held < i128::from(Money::MAX.pico()) {
            Headroom::Available
        } else {
            Headroom::Exceeded(format!("{scope} cannot book more than {} USD", Money::MAX.exact()))
        };
    };
    let cap_pico = i128::from(cap.pico());
    if committed > cap_pico {
        let remedy = scope.shared().map(|shared| format!("; raise it by: {}", shared.command()));
        return Headroom::Exceeded(format!(
            "{scope} has spent {} of {} USD, and the next call may cost up to {} USD{}",
            account.committed.exact(),
            cap.exact(),
            worst.exact(),
            remedy.unwrap_or_default()
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
    use juror_types::id::RunId;

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
    fn cap_is_exact_to_one_pico_dollar() {
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
    fn missing_record_denies_and_unlimited_admits() {
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
