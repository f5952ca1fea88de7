//! The ledger's records in memory, as the reference for other backends.

use crate::admission::{
    Budget, BudgetCalendar,
    headroom::Account,
    records::{Lease, LeaseState, LedgerRecords},
    scope::Scope,
};
use juror_types::{
    budget_label::BudgetLabel,
    id::{LeaseId, OwnerId, RunId},
};
use std::{collections::BTreeMap, convert::Infallible};

/// Records that end with the process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryRecords {
    /// Time zone in which days and months begin.
    pub calendar: BudgetCalendar,
    budgets: BTreeMap<String, Budget>,
    labels: BTreeMap<RunId, Vec<BudgetLabel>>,
    accounts: BTreeMap<String, Account>,
    leases: BTreeMap<LeaseId, Lease>,
    owners: BTreeMap<OwnerId, i64>,
}

impl MemoryRecords {
    fn outstanding(&self, picked: impl Fn(&Lease) -> bool) -> Vec<LeaseId> {
        let holds = |lease: &Lease| lease.lease_state == LeaseState::Outstanding && picked(lease);
        self.leases.iter().filter(|(_, lease)| holds(lease)).map(|(id, _)| id.clone()).collect()
    }
}

impl LedgerRecords for MemoryRecords {
    type Error = Infallible;

    fn calendar(&self) -> Result<BudgetCalendar, Infallible> {
        Ok(self.calendar.clone())
    }

    fn budget(&self, key: &str) -> Result<Option<Budget>, Infallible> {
        Ok(self.budgets.get(key).copied())
    }

    fn set_budget(&mut self, key: &str, budget: Budget) -> Result<(), Infallible> {
        self.budgets.insert(key.to_owned(), budget);
        Ok(())
    }

    fn labels(&self, run: &RunId) -> Result<Vec<BudgetLabel>, Infallible> {
        Ok(self.labels.get(run).cloned().unwrap_or_default())
    }

    fn set_labels(&mut self, run: &RunId, labels: &[BudgetLabel]) -> Result<(), Infallible> {
        self.labels.insert(run.clone(), labels.to_vec());
        Ok(())
    }

    fn account(&self, scope: &Scope) -> Result<Account, Infallible> {
        Ok(self.accounts.get(&scope.account_key()).copied().unwrap_or_default())
    }

    fn set_account(&mut self, scope: &Scope, account: &Account) -> Result<(), Infallible> {
        self.accounts.insert(scope.account_key(), *account);
        Ok(())
    }

    fn lease(&self, id: &LeaseId) -> Result<Option<Lease>, Infallible> {
        Ok(self.leases.get(id).cloned())
    }

    fn set_lease(&mut self, id: &LeaseId, lease: &Lease) -> Result<(), Infallible> {
        self.leases.insert(id.clone(), lease.clone());
        Ok(())
    }

    fn remove_lease(&mut self, id: &LeaseId) -> Result<(), Infallible> {
        self.leases.remove(id);
        Ok(())
    }

    fn record_heartbeat(&mut self, owner: &OwnerId, now: i64) -> Result<(), Infallible> {
        self.owners.insert(owner.clone(), now);
        Ok(())
    }

    fn leases_of_silent_owners(&self, since: i64) -> Result<Vec<LeaseId>, Infallible> {
        let silent = |owner: &OwnerId| self.owners.get(owner).is_none_or(|beat| *beat < since);
        Ok(self.outstanding(|lease| silent(&lease.owner)))
    }

    fn leases_of_others(&self, run: &RunId, owner: &OwnerId) -> Result<Vec<LeaseId>, Infallible> {
        Ok(self.outstanding(|lease| lease.run == *run && lease.owner != *owner))
    }
}
