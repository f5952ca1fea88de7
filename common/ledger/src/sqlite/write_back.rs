//! Cache of budgets and accounts within one transaction.

use super::statements::execute;
use crate::admission::{Budget, BudgetCalendar, headroom::Account};
use juror_types::{budget_label::BudgetLabel, id::RunId};
use rusqlite::{Connection, Result, params};
use std::{borrow::Borrow, cell::RefCell, collections::BTreeMap};

/// Budgets and accounts read within a transaction. All of its operations use the same few records,
/// so each is read once and written once, before the commit.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteBackCache {
    pub(super) calendar: CachedRecords<(), BudgetCalendar>,
    pub(super) budgets: CachedRecords<String, Option<Budget>>,
    pub(super) labels: CachedRecords<RunId, Vec<BudgetLabel>>,
    pub(super) accounts: CachedRecords<String, CachedAccount>,
}

/// Records of one kind by their keys.
#[derive(Clone, Debug)]
pub(super) struct CachedRecords<Key, Record>(RefCell<BTreeMap<Key, Record>>);

/// An account, and whether it differs from its row.
#[derive(Clone, Copy, Debug)]
pub(super) struct CachedAccount {
    pub(super) account: Account,
    pub(super) changed: bool,
}

impl WriteBackCache {
    /// Writes the changed accounts and clears the cache: the next transaction may be another
    /// process's.
    pub(crate) fn write(&self, connection: &Connection) -> Result<()> {
        self.calendar.0.take();
        self.budgets.0.take();
        self.labels.0.take();
        for (scope, CachedAccount { account, changed }) in self.accounts.0.take() {
            if changed {
                execute(
                    connection,
                    "INSERT OR REPLACE INTO accounts (scope, committed_pico, presumed_pico,
                         outstanding_pico, overrun_pico, stopped) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                    params![
                        scope,
                        account.committed.pico(),
                        account.presumed.pico(),
                        account.outstanding.pico(),
                        account.overrun.pico(),
                        account.stopped,
                    ],
                )?;
            }
        }
        Ok(())
    }
}

impl<Key: Ord, Record: Clone> CachedRecords<Key, Record> {
    /// A record, read at most once.
    pub(super) fn get<Name>(
        &self,
        key: &Name,
        read: impl FnOnce() -> Result<Record>,
    ) -> Result<Record>
    where
        Key: Borrow<Name>,
        Name: Ord + ToOwned<Owned = Key> + ?Sized,
    {
        if let Some(record) = self.0.borrow().get(key) {
            return Ok(record.clone());
        }
        let record = read()?;
        self.insert(key.to_owned(), record.clone());
        Ok(record)
    }

    /// Sets a record.
    pub(super) fn insert(&self, key: Key, record: Record) {
        self.0.borrow_mut().insert(key, record);
    }
}

impl<Key, Record> Default for CachedRecords<Key, Record> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}
