//! Admission: may a call go out now? Rate limits and budgets are decided together,
//! in one atomic step.
//!
//! A call counts against the budget of its run, and against those of the day and the month: of all
//! runs, and of each label that the run has. An admitted call holds a lease until it is settled,
//! released or presumed spent. At every instant, for every budget, committed + outstanding is at
//! most the cap, as long as no bill exceeds the worst case that was reserved for it.

mod alert_settings;
mod buckets;
pub(crate) mod budgets;
mod calendar;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod count_rule;
#[cfg(test)]
pub(crate) mod differential;
#[cfg(test)]
pub(crate) mod differential_steps;
#[cfg(test)]
pub(crate) mod memory_records;
mod queue;
pub(crate) mod records;
mod reservations;
pub(crate) mod scope;
mod settings;
pub(crate) mod state;
mod wait_queue;

pub use alert_settings::{AlertSettings, AlertShare, AlertTarget, InvalidAlert};
pub use budgets::Account;
pub use calendar::{BudgetCalendar, UnknownZone};
pub use count_rule::{CountRule, TokenCounting};
pub use juror_types::wait_reason::WaitReason;
pub use queue::{AdmissionQueue, Admittance};
pub use scope::{Period, Scope, SharedBudget};
pub use settings::{BudgetSettings, LabelCaps};

use crate::{error::LedgerError, store::FinishedJob};
use async_trait::async_trait;
use jiff::civil::Date;
use juror_types::{
    id::{LeaseId, OwnerId, RunId},
    usage::{Money, Usage},
};
use std::time::Duration;
use tokio::sync::watch;

/// Rate limits and budgets, wherever they live.
#[async_trait]
pub trait Admission: Send + Sync {
    /// Writes down what a run may cost, an unlimited budget explicitly. Raising or lowering the
    /// cap of a run that has a record keeps what it has spent.
    async fn open_run(&self, run: &RunId, budget: Budget) -> Result<(), LedgerError> {
        self.open_run_again(run, budget, Money::ZERO).await
    }

    /// As [`Self::open_run`], for a run whose results have cost so much already by its journal:
    /// what the ledger lacks of that is booked in the same step, also on the current day and month.
    async fn open_run_again(
        &self,
        run: &RunId,
        budget: Budget,
        spent: Money,
    ) -> Result<(), LedgerError>;

    /// Takes the limits that the user gives an endpoint, in place of any given before.
    async fn set_limits(&self, endpoint: &str, limits: Limits) -> Result<(), LedgerError>;

    /// One atomic decision. Does not wait. A caller that is told to wait keeps its place, and what
    /// it reserved of the rate limits, for a few seconds beyond the time at which it should ask
    /// again; one that gives up releases its lease. Asking again for a lease that is held answers
    /// admitted.
    async fn try_admit(&self, ask: &Ask) -> Result<AdmissionDecision, LedgerError>;

    /// Books what a call really cost and, in the same step, stores the finished job that it
    /// belongs to. Books the truth even above the reservation and even after the lease was
    /// presumed spent or lost. Settling twice books once. A bill above its reservation stops the
    /// admission of a run that some cap binds, until the run is opened again.
    async fn settle(&self, settlement: Settlement) -> Result<Settled, LedgerError>;

    /// Gives a lease back unspent, or gives up waiting for it.
    async fn release(&self, lease: &LeaseId) -> Result<(), LedgerError>;

    /// Counts a lease as spent at its worst case: nobody knows what its call cost.
    async fn presume_spent(&self, lease: &LeaseId) -> Result<(), LedgerError>;

    /// Presumes spent every lease whose owner is gone.
    async fn sweep(&self) -> Result<(), LedgerError>;

    /// Learns limits and cooldowns from what the provider said.
    async fn observe(&self, observation: &Observation) -> Result<(), LedgerError>;

    /// Counting of an endpoint's tokens, as other processes have learned it. The default where each
    /// learns for itself.
    async fn token_counting(&self, _endpoint: &str) -> Result<TokenCounting, LedgerError> {
        Ok(TokenCounting::default())
    }

    /// The same as of the last decision on this endpoint, without asking the backend.
    fn known_token_counting(&self, _endpoint: &str) -> TokenCounting {
        TokenCounting::default()
    }

    /// The number of outages of the ledger that this process has waited through. Where it has grown
    /// since a job was claimed, the ledger may have been emptied and may know the job's result now.
    fn outages(&self) -> u64 {
        0
    }

    /// The ledger of a run; none if the run has no record.
    async fn ledger(&self, run: &RunId) -> Result<Option<Ledger>, LedgerError>;

    /// Changes whenever a settle, release or sweep may let a call through that waits for money.
    fn changes(&self) -> watch::Receiver<u64>;
}

/// The limits that a user gives an endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Requests per minute; none: what the provider says, if it says.
    pub requests_per_minute: Option<u64>,
    /// Tokens per minute, as the provider counts them; none: what the provider says, if it says.
    pub tokens_per_minute: Option<u64>,
    /// True if the provider gives back what a call reserved and did not use.
    pub refund_unused: bool,
}

/// Limit on the cost of a run, a day or a month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// No limit, said explicitly.
    Unlimited,
    /// At most this much.
    Cap(Money),
}

/// A call that wants to go out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Names the lease that the call will hold.
    pub lease: LeaseId,
    /// Its future holder.
    pub owner: OwnerId,
    /// The run that pays.
    pub run: RunId,
    /// Key of the rate limits that it counts against: provider, base URL and model.
    pub endpoint: String,
    /// Input tokens that it counts with against the rate limits.
    pub input_tokens: u64,
    /// Bound of its output tokens; 0 where the provider does not count them against its limit.
    pub max_output_tokens: u64,
    /// The most that it can cost.
    pub worst_cost: Money,
}

/// The answer to an [`Ask`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AdmissionDecision {
    /// The lease is held: call.
    Admitted,
    /// Not now: ask again after this time, or, for money, as soon as something changes.
    Wait {
        /// Time after which the rate limits could allow it; none if only another change can help.
        retry_after: Option<Duration>,
        /// The obstacle.
        reason: WaitReason,
    },
    /// Never: what is committed plus this worst case is above a cap, or there is no record.
    NoBudget {
        /// The exhausted budget, in plain words with its figures.
        reason: String,
    },
    /// Never as it is: a backend that may forget, as a fleet's, has no record of a budget. Nothing
    /// is known of the run.
    NoRecord {
        /// The budget and the remedy, in plain words.
        reason: String,
    },
}

/// The end of a call that was answered.
#[derive(Clone, Debug)]
pub struct Settlement {
    /// The call's lease.
    pub lease: LeaseId,
    /// Cost by its bill.
    pub cost: Money,
    /// Usage by its bill.
    pub usage: Usage,
    /// True if the answer told its usage or its cost; otherwise both are the most that it can take.
    pub metered: bool,
    /// The job that it finishes, if it does. Otherwise the cost is carried on the job's claim.
    pub finished: Option<FinishedJob>,
    /// The job that the cost is carried on while it is not finished.
    pub claim: crate::store::ClaimKey,
}

/// Result of a settlement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settled {
    /// True if this claim still holds: a holder whose fence was overtaken must not publish.
    pub may_publish: bool,
    /// By how much the bill exceeded the reservation.
    pub overrun: Money,
}

/// Limits of a provider as one of its answers tells them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    /// Key of the limits, as in [`Ask::endpoint`].
    pub endpoint: String,
    /// Requests per minute that the account has.
    pub requests_per_minute: Option<u64>,
    /// Tokens per minute that the account has.
    pub tokens_per_minute: Option<u64>,
    /// The provider refused by rate; how long it asks to wait (zero if it does not say).
    pub refused: Option<Duration>,
    /// News from the call about how the provider counts tokens.
    pub counting: TokenCounting,
}

/// A run's money.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ledger {
    /// Limit on its cost.
    pub budget: Budget,
    /// Settled and presumed spent.
    pub committed: Money,
    /// The part of `committed` that no result will tell: leases presumed spent, at worst case,
    /// and bills that came in after another holder had taken the job over.
    pub presumed: Money,
    /// The part of `committed` that is carried on claims of jobs that have no result yet.
    pub unattributed_cost: Money,
    /// Held by calls in flight.
    pub outstanding: Money,
    /// By how much bills exceeded their reservations, in sum.
    pub overrun: Money,
    /// Money of the month, over all runs; none where the backend does not tell it.
    pub month: Option<MonthLedger>,
}

/// Money of the current month, over all runs of a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonthLedger {
    /// The current day, in the ledger's zone.
    pub day: Date,
    /// Limit on the cost of the month; none if there is no record.
    pub budget: Option<Budget>,
    /// Settled and presumed spent.
    pub committed: Money,
}
