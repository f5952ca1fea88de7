//! Cache of budgets and accounts within one transaction.

use crate::admission::{Budget, BudgetCalendar, budget_decision::Account};
use crate::sqlite::failure::SqliteFailure;
use juror_types::{budget_label::BudgetLabel, id::RunId};
use rusqlite::{Connection, params};
use std::{cell::RefCell, collections::BTreeMap};

/// Budgets and accounts read within a transaction. All of its operations use the same few records,
/// so each is read once and written once, before the commit.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteBackCache {
    calendar: RefCell<Option<BudgetCalendar>>,
    budgets: RefCell<BTreeMap<String, Option<Budget>>>,
    labels: RefCell<BTreeMap<RunId, Vec<BudgetLabel>>>,
    accounts: RefCell<BTreeMap<String, CachedAccount>>,
}

impl WriteBackCache {
    /// The calendar, read at most once.
    pub(crate) fn calendar(
        &self,
        read: impl FnOnce() -> Result<BudgetCalendar, SqliteFailure>,
    ) -> Result<BudgetCalendar, SqliteFailure> {
        if let Some(calendar) = &*self.calendar.borrow() {
            return Ok(calendar.clone());
        }
        let calendar = read()?;
        self.calendar.replace(Some(calendar.clone()));
        Ok(calendar)
    }

    /// Invalidates the calendar before a change.
    pub(crate) fn delete_calendar(&self) {
        self.calendar.take();
    }

    /// A budget, read at most once.
    pub(crate) fn budget(
        &self,
        key: &str,
        read: impl FnOnce() -> Result<Option<Budget>, SqliteFailure>,
    ) -> Result<Option<Budget>, SqliteFailure> {
        if let Some(budget) = self.budgets.borrow().get(key) {
            return Ok(*budget);
        }
        let budget = read()?;
        self.budgets.borrow_mut().insert(key.to_owned(), budget);
        Ok(budget)
    }

    /// Invalidates a budget before a change.
    pub(crate) fn delete_budget(&self, key: &str) {
        self.budgets.borrow_mut().remove(key);
    }

    /// Labels of a run, read at most once.
    pub(crate) fn labels(
        &self,
        run: &RunId,
        read: impl FnOnce() -> Result<Vec<BudgetLabel>, SqliteFailure>,
    ) -> Result<Vec<BudgetLabel>, SqliteFailure> {
        if let Some(labels) = self.labels.borrow().get(run) {
            return Ok(labels.clone());
        }
        let labels = read()?;
        self.labels.borrow_mut().insert(run.clone(), labels.clone());
        Ok(labels)
    }

    /// Invalidates the labels of a run before a change.
    pub(crate) fn delete_labels(&self, run: &RunId) {
        self.labels.borrow_mut().remove(run);
    }

    /// An account, read at most once.
    pub(crate) fn account(
        &self,
        key: String,
        read: impl FnOnce(&str) -> Result<Account, SqliteFailure>,
    ) -> Result<Account, SqliteFailure> {
        if let Some(cached) = self.accounts.borrow().get(&key) {
            return Ok(cached.account);
        }
        let account = read(&key)?;
        self.accounts.borrow_mut().insert(key, CachedAccount { account, changed: false });
        Ok(account)
    }

    /// Sets an account.
    pub(crate) fn set_account(&self, key: String, account: Account) {
        self.accounts.borrow_mut().insert(key, CachedAccount { account, changed: true });
    }

    /// Writes the changed accounts and clears the cache: the next transaction may be another
    /// process's.
    pub(crate) fn write(&self, connection: &Connection) -> Result<(), SqliteFailure> {
        self.calendar.take();
        self.budgets.borrow_mut().clear();
        self.labels.borrow_mut().clear();
        let mut statement = connection.prepare_cached(
            "INSERT OR REPLACE INTO accounts (scope, committed_pico, presumed_pico,
                 outstanding_pico, overrun_pico, stopped) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        for (scope, CachedAccount { account, changed }) in self.accounts.take() {
            if changed {
                statement.execute(params![
                    scope,
                    account.committed.pico(),
                    account.presumed.pico(),
                    account.outstanding.pico(),
                    account.overrun.pico(),
                    account.stopped,
                ])?;
            }
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug)]
struct CachedAccount {
    account: Account,
    changed: bool,
}
