//! Storage of the ledger's records, the only difference between backends of admission.

use super::{AdmissionRequest, Budget, BudgetCalendar, headroom::Account, scope::Scope};
use jiff::civil::Date;
use juror_types::{
    budget_label::BudgetLabel,
    id::{LeaseId, OwnerId, RunId},
    usage::Money,
};

/// Records of budgets, accounts and leases. The state machine reads and writes them inside one
/// transaction of the backend.
pub trait LedgerRecords {
    /// Error of reading or writing a record.
    type Error;

    /// Time zone in which days and months begin.
    fn calendar(&self) -> Result<BudgetCalendar, Self::Error>;

    /// The cap under a [`Scope::budget_key`]; `None` if none was ever written.
    fn budget(&self, key: &str) -> Result<Option<Budget>, Self::Error>;

    /// Writes a cap.
    fn set_budget(&mut self, key: &str, budget: Budget) -> Result<(), Self::Error>;

    /// Labels of a run.
    fn labels(&self, run: &RunId) -> Result<Vec<BudgetLabel>, Self::Error>;

    /// Writes the labels of a run.
    fn set_labels(&mut self, run: &RunId, labels: &[BudgetLabel]) -> Result<(), Self::Error>;

    /// The account of a scope; empty if there is no record.
    fn account(&self, scope: &Scope) -> Result<Account, Self::Error>;

    /// Writes the account of a scope.
    fn set_account(&mut self, scope: &Scope, account: &Account) -> Result<(), Self::Error>;

    /// Changes the account of a scope.
    fn change_account(
        &mut self,
        scope: &Scope,
        change: impl FnOnce(&mut Account),
    ) -> Result<(), Self::Error> {
        let mut account = self.account(scope)?;
        change(&mut account);
        self.set_account(scope, &account)
    }

    /// A lease that is outstanding or ended; `None` if it was released or never held.
    fn lease(&self, id: &LeaseId) -> Result<Option<Lease>, Self::Error>;

    /// A lease that is outstanding.
    fn outstanding_lease(&self, id: &LeaseId) -> Result<Option<Lease>, Self::Error> {
        Ok(self.lease(id)?.filter(|lease| lease.lease_state == LeaseState::Outstanding))
    }

    /// Writes a lease.
    fn set_lease(&mut self, id: &LeaseId, lease: &Lease) -> Result<(), Self::Error>;

    /// Deletes a lease.
    fn remove_lease(&mut self, id: &LeaseId) -> Result<(), Self::Error>;

    /// Records an owner's heartbeat.
    fn record_heartbeat(&mut self, owner: &OwnerId, now: i64) -> Result<(), Self::Error>;

    /// Outstanding leases of owners without a heartbeat since this time.
    fn leases_of_silent_owners(&self, since: i64) -> Result<Vec<LeaseId>, Self::Error>;

    /// Outstanding leases of a run that other owners hold.
    fn leases_of_others(&self, run: &RunId, owner: &OwnerId) -> Result<Vec<LeaseId>, Self::Error>;
}

/// Record of an admitted call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Process that holds the lease.
    pub owner: OwnerId,
    /// The run that pays.
    pub run: RunId,
    /// Labels of the run at its admission.
    pub labels: Vec<BudgetLabel>,
    /// Key of the rate limits that it counts against.
    pub endpoint: String,
    /// Tokens that were reserved.
    pub tokens: u64,
    /// Money that was reserved.
    pub worst_cost: Money,
    /// Time of its admission, in milliseconds since 1970.
    pub admitted: i64,
    /// Day of its admission, in which it counts.
    pub day: Date,
    /// State of the lease.
    pub lease_state: LeaseState,
}

/// State of a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseState {
    /// Its call is in flight.
    Outstanding,
    /// Call cost this.
    Settled(Money),
    /// Cost unknown: the call counts at its worst case.
    Presumed,
}

impl Lease {
    pub(super) fn new(
        request: &AdmissionRequest,
        labels: Vec<BudgetLabel>,
        now: i64,
        day: Date,
    ) -> Self {
        Self {
            owner: request.owner.clone(),
            endpoint: request.endpoint.clone(),
            tokens: request.tokens(),
            worst_cost: request.worst_cost.max(Money::ZERO),
            ..Self::for_unknown_lease(&request.run, labels, now, day)
        }
    }

    /// Substitute for an unknown lease: its whole bill is above its reservation.
    pub(super) fn for_unknown_lease(
        run: &RunId,
        labels: Vec<BudgetLabel>,
        now: i64,
        day: Date,
    ) -> Self {
        Self {
            owner: OwnerId::new(""),
            run: run.clone(),
            labels,
            endpoint: String::new(),
            tokens: 0,
            worst_cost: Money::ZERO,
            admitted: now,
            day,
            lease_state: LeaseState::Outstanding,
        }
    }

    /// The budgets that it counts against.
    pub(super) fn scopes(&self) -> Vec<Scope> {
        Scope::all_of(&self.run, &self.labels, self.day)
    }
}
