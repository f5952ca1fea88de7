//! Admission of calls: rate limits and budgets are decided together, in one atomic step.
//!
//! A call counts against the budget of its run, and against those of the day and the month: of all
//! runs, and of each label of the run. An admitted call holds a lease until it is settled, released
//! or presumed spent. At every instant, for every budget, committed + outstanding is at most the
//! cap, as long as no bill exceeds the worst case that was reserved for it.

mod admission_queue;
mod alert_settings;
mod budget_queue;
mod calendar;
#[cfg(test)]
pub(crate) mod conformance;
mod endpoint_limits;
pub(crate) mod headroom;
mod rate_limit_reservations;
pub(crate) mod records;
pub(crate) mod scope;
mod settings;
pub(crate) mod state_machine;
#[cfg(test)]
pub(crate) mod tests;
mod token_count_rule;

pub use admission_queue::{AdmissionOutcome, AdmissionQueue};
pub use alert_settings::{AlertSettings, AlertShare, AlertTarget, InvalidAlert};
pub use calendar::{BudgetCalendar, UnknownZone};
pub use headroom::Account;
pub use juror_types::wait_reason::WaitReason;
pub use scope::{Period, Scope, SharedBudget};
pub use settings::{BudgetSettings, LabelCaps};
pub use token_count_rule::{CountRule, TokenCounting};

use crate::{error::LedgerError, job_store::FinishedJob};
use async_trait::async_trait;
use jiff::civil::Date;
use juror_types::{
    id::{LeaseId, OwnerId, RunId},
    usage::{InvalidMoney, Money, Usage},
};
use std::{str::FromStr, time::Duration};
use tokio::sync::watch;

/// Rate limits and budgets of any backend.
#[async_trait]
pub trait Admission: Send + Sync {
    /// Writes the budget of a run, explicitly if it is unlimited. Changing the cap of a run that
    /// has a record keeps its spending.
    async fn open_run(&self, run: &RunId, budget: Budget) -> Result<(), LedgerError> {
        self.open_run_again(run, budget, Money::ZERO).await
    }

    /// [`Self::open_run`] for a run whose results have this cost by its journal: the part that the
    /// ledger lacks is booked in the same step, also on the current day and month.
    async fn open_run_again(
        &self,
        run: &RunId,
        budget: Budget,
        spent: Money,
    ) -> Result<(), LedgerError>;

    /// Sets the user's limits of an endpoint, in place of earlier ones.
    async fn set_limits(&self, endpoint: &str, limits: Limits) -> Result<(), LedgerError>;

    /// Decides in one atomic step, without waiting. A caller that gets `Wait` keeps its place in
    /// the queue, and its reservation of the rate limits, for a few seconds beyond the time of its
    /// next request; a caller that stops waiting releases its lease. A repeated request for a held
    /// lease is admitted.
    async fn try_admit(&self, request: &AdmissionRequest)
    -> Result<AdmissionDecision, LedgerError>;

    /// Books the billed cost of a call and, in the same step, stores the finished job that it
    /// belongs to. Books the full bill even above the reservation and even after the lease was
    /// presumed spent or lost. Settling twice books once, and stores the finished job of the later
    /// settlement too: the first may have had none. A bill above its reservation stops the
    /// admission of a run with a cap until the run is opened again.
    async fn settle(&self, settlement: Settlement) -> Result<Settled, LedgerError>;

    /// Releases a lease unspent, or a place in the queue.
    async fn release(&self, lease: &LeaseId) -> Result<(), LedgerError>;

    /// Counts a lease as spent at its worst case, since the cost of its call is unknown.
    async fn presume_spent(&self, lease: &LeaseId) -> Result<(), LedgerError>;

    /// Presumes every lease of an expired owner as spent.
    async fn sweep(&self) -> Result<(), LedgerError>;

    /// Updates limits and cooldowns by a provider's reply.
    async fn observe(&self, observation: &Observation) -> Result<(), LedgerError>;

    /// Token counting of an endpoint, as other processes have learned it. The default is for
    /// backends in which each process learns it by itself.
    async fn token_counting(&self, _endpoint: &str) -> Result<TokenCounting, LedgerError> {
        Ok(TokenCounting::default())
    }

    /// The token counting returned by the last decision on this endpoint, without a query.
    fn known_token_counting(&self, _endpoint: &str) -> TokenCounting {
        TokenCounting::default()
    }

    /// Number of outages of the ledger that this process has waited through. If it has grown since
    /// a job was claimed, the ledger may have been emptied, or may have received the job's result.
    fn outages(&self) -> u64 {
        0
    }

    /// The ledger of a run; `None` if the run has no record.
    async fn ledger(&self, run: &RunId) -> Result<Option<RunAccount>, LedgerError>;

    /// Changes whenever a settle, release or sweep may admit a call that waits for money.
    fn changes(&self) -> watch::Receiver<u64>;
}

/// Rate limits that a user sets for an endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Requests per minute; none: as the provider reports them.
    pub requests_per_minute: Option<u64>,
    /// Tokens per minute, as the provider counts them; none: as the provider reports them.
    pub tokens_per_minute: Option<u64>,
    /// True if the provider refunds the unused part of a reservation.
    pub refund_unused: bool,
}

/// Limit on the cost of a run, a day or a month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// No limit, given explicitly.
    Unlimited,
    /// Maximum cost.
    Cap(Money),
}

impl Budget {
    /// The word for no cap.
    pub(crate) const UNLIMITED: &str = "unlimited";

    /// Maximum cost; none is unlimited.
    pub fn cap(self) -> Option<Money> {
        match self {
            Self::Cap(cap) => Some(cap),
            Self::Unlimited => None,
        }
    }
}

impl FromStr for Budget {
    type Err = InvalidMoney;

    fn from_str(text: &str) -> Result<Self, InvalidMoney> {
        match text {
            Self::UNLIMITED => Ok(Self::Unlimited),
            amount => amount.parse().map(Self::Cap),
        }
    }
}

/// A request to admit a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdmissionRequest {
    /// Id of the lease that the call will hold.
    pub lease: LeaseId,
    /// Owner of the lease.
    pub owner: OwnerId,
    /// The run that pays.
    pub run: RunId,
    /// Key of the rate limits that it counts against: provider, base URL and model.
    pub endpoint: String,
    /// Input tokens that count against the rate limits.
    pub input_tokens: u64,
    /// Maximum number of output tokens; 0 where the provider does not count them against its limit.
    pub max_output_tokens: u64,
    /// Maximum cost.
    pub worst_cost: Money,
}

impl AdmissionRequest {
    /// Tokens that count against the rate limits.
    pub(crate) fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.max_output_tokens)
    }
}

/// The decision on an [`AdmissionRequest`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AdmissionDecision {
    /// The lease is held: make the call.
    Admitted,
    /// A retry after this time, or, for money, as soon as something changes.
    Wait {
        /// Time after which the rate limits could allow it; `None` if only another change can help.
        retry_after: Option<Duration>,
        /// The exhausted limit.
        reason: WaitReason,
    },
    /// Denied for good: committed cost plus this worst case exceeds a cap, or there is no record.
    NoBudget {
        /// The exhausted budget with its figures, as a message.
        reason: String,
    },
    /// Denied for now: a backend that may lose data, as a fleet's, has no record of a budget.
    NoRecord {
        /// The budget and the remedy, as a message.
        reason: String,
    },
}

/// A finished call to be booked.
#[derive(Clone, Debug)]
pub struct Settlement {
    /// The call's lease.
    pub lease: LeaseId,
    /// Cost by its bill.
    pub cost: Money,
    /// Usage by its bill.
    pub usage: Usage,
    /// True if the reply reported its usage or its cost; otherwise both are upper bounds.
    pub metered: bool,
    /// The job that it finishes, if it does. Otherwise the job's claim carries the cost.
    pub finished: Option<FinishedJob>,
    /// The claim that carries the cost while its job is not finished.
    pub claim: crate::job_store::ClaimKey,
}

/// Result of a settlement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settled {
    /// True if this claim still holds: a holder whose claim was taken over must not publish.
    pub may_publish: bool,
    /// Amount by which the bill exceeded the reservation.
    pub overrun: Money,
}

/// Limits of a provider as one of its replies reports them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    /// Key of the limits, as in [`AdmissionRequest::endpoint`].
    pub endpoint: String,
    /// Requests per minute that the account has.
    pub requests_per_minute: Option<u64>,
    /// Tokens per minute that the account has.
    pub tokens_per_minute: Option<u64>,
    /// Wait requested by a rate-limit refusal; zero if it states none.
    pub refused: Option<Duration>,
    /// Changes of the token counting that the call has shown.
    pub counting: TokenCounting,
}

/// Account of a run's money.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunAccount {
    /// Limit on its cost.
    pub budget: Budget,
    /// Settled and presumed cost.
    pub committed: Money,
    /// The part of `committed` in no result: leases presumed spent, at worst case, and bills that
    /// came after another holder had taken the job over.
    pub presumed: Money,
    /// The part of `committed` that is carried on claims of jobs without a result.
    pub unattributed_cost: Money,
    /// Reserved by calls in flight.
    pub outstanding: Money,
    /// Sum of the amounts by which bills exceeded their reservations.
    pub overrun: Money,
    /// Money of the month, over all runs; `None` if the backend does not report it.
    pub month: Option<MonthLedger>,
}

impl RunAccount {
    /// The account of a run with this budget.
    pub(crate) fn new(
        budget: Budget,
        account: Account,
        unattributed_cost: Money,
        month: MonthLedger,
    ) -> Self {
        let Account { committed, presumed, outstanding, overrun, .. } = account;
        let month = Some(month);
        Self { budget, committed, presumed, unattributed_cost, outstanding, overrun, month }
    }
}

/// Money of the current month, over all runs of a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonthLedger {
    /// The current day, in the ledger's zone.
    pub day: Date,
    /// Limit on the cost of the month; `None` if there is no record.
    pub budget: Option<Budget>,
    /// Settled and presumed spent.
    pub committed: Money,
}
