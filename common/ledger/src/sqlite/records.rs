//! The ledger's records in SQLite.

use super::{
    failure::unreadable,
    statements::{execute, query_all, query_one},
    write_back::{CachedAccount, WriteBackCache},
};
use crate::{
    admission::{
        Budget, BudgetCalendar,
        headroom::Account,
        records::{Lease, LeaseState, LedgerRecords},
        scope::Scope,
    },
    batches::ROWS_OWNER,
};
use juror_types::{
    budget_label::BudgetLabel,
    id::{LeaseId, OwnerId, RunId},
    usage::Money,
};
use rusqlite::{Connection, OptionalExtension as _, Result, Row, params};
use std::collections::BTreeSet;

/// Records inside the current transaction of this connection, with its cache.
pub(crate) struct SqliteRecords<'a>(pub(crate) &'a Connection, pub(crate) &'a WriteBackCache);

impl LedgerRecords for SqliteRecords<'_> {
    type Error = rusqlite::Error;

    fn calendar(&self) -> Result<BudgetCalendar> {
        self.1.calendar.get(&(), || {
            let query = "SELECT value FROM ledger_settings WHERE name = 'zone'";
            let zone = query_one(self.0, query, [], |row| row.get::<_, String>(0)).optional()?;
            let calendar = zone.map_or(Ok(BudgetCalendar::UTC), |zone| BudgetCalendar::new(&zone));
            calendar.map_err(|unknown| unreadable(0, unknown))
        })
    }

    fn budget(&self, key: &str) -> Result<Option<Budget>> {
        self.1.budgets.get(key, || {
            let query = "SELECT cap_pico FROM budgets WHERE scope = ?1";
            let read = |row: &Row<'_>| Ok(row.get::<_, Option<i64>>(0)?.map(Money::from_pico));
            let cap = query_one(self.0, query, [key], read).optional()?;
            Ok(cap.map(|cap| cap.map_or(Budget::Unlimited, Budget::Cap)))
        })
    }

    fn set_budget(&mut self, key: &str, budget: Budget) -> Result<()> {
        execute(
            self.0,
            "INSERT OR REPLACE INTO budgets (scope, cap_pico) VALUES (?1, ?2)",
            params![key, budget.cap().map(Money::pico)],
        )?;
        self.1.budgets.insert(key.to_owned(), Some(budget));
        Ok(())
    }

    fn labels(&self, run: &RunId) -> Result<Vec<BudgetLabel>> {
        self.1.labels.get(run, || {
            let query = "SELECT labels FROM run_labels WHERE run = ?1";
            let labels = query_one(self.0, query, [run.as_str()], |row| labels_from(row, 0));
            Ok(labels.optional()?.unwrap_or_default())
        })
    }

    fn set_labels(&mut self, run: &RunId, labels: &[BudgetLabel]) -> Result<()> {
        execute(
            self.0,
            "INSERT OR REPLACE INTO run_labels (run, labels) VALUES (?1, ?2)",
            params![run.as_str(), BudgetLabel::join(labels)],
        )?;
        self.1.labels.insert(run.clone(), labels.to_vec());
        Ok(())
    }

    fn account(&self, scope: &Scope) -> Result<Account> {
        let key = scope.account_key();
        let cached = self.1.accounts.get(&key, || {
            let account = query_one(
                self.0,
                "SELECT committed_pico, presumed_pico, outstanding_pico, overrun_pico, stopped
                 FROM accounts WHERE scope = ?1",
                [&key],
                account_from,
            );
            Ok(CachedAccount { account: account.optional()?.unwrap_or_default(), changed: false })
        });
        Ok(cached?.account)
    }

    fn set_account(&mut self, scope: &Scope, account: &Account) -> Result<()> {
        let cached = CachedAccount { account: *account, changed: true };
        self.1.accounts.insert(scope.account_key(), cached);
        Ok(())
    }

    fn lease(&self, id: &LeaseId) -> Result<Option<Lease>> {
        query_one(
            self.0,
            "SELECT owner, run, endpoint, tokens, worst_pico, admitted_ms, standing, cost_pico, day,
                 labels
             FROM leases WHERE lease = ?1",
            [id.as_str()],
            lease_from,
        )
        .optional()
    }

    fn set_lease(&mut self, id: &LeaseId, lease: &Lease) -> Result<()> {
        let (lease_state, cost) = match lease.lease_state {
            LeaseState::Outstanding => ("outstanding", None),
            LeaseState::Settled(cost) => ("settled", Some(cost.pico())),
            LeaseState::Presumed => ("presumed", None),
        };
        execute(
            self.0,
            "INSERT OR REPLACE INTO leases (lease, owner, run, endpoint, tokens, worst_pico,
                 admitted_ms, standing, cost_pico, day, labels)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            params![
                id.as_str(),
                lease.owner.as_str(),
                lease.run.as_str(),
                lease.endpoint,
                i64::try_from(lease.tokens).unwrap_or(i64::MAX),
                lease.worst_cost.pico(),
                lease.admitted,
                lease_state,
                cost,
                lease.day.to_string(),
                BudgetLabel::join(&lease.labels),
            ],
        )
        .map(drop)
    }

    fn remove_lease(&mut self, id: &LeaseId) -> Result<()> {
        execute(self.0, "DELETE FROM leases WHERE lease = ?1", [id.as_str()]).map(drop)
    }

    fn record_heartbeat(&mut self, owner: &OwnerId, now: i64) -> Result<()> {
        execute(
            self.0,
            "INSERT OR REPLACE INTO owners (owner, beat_ms) VALUES (?1, ?2)",
            params![owner.as_str(), now],
        )
        .map(drop)
    }

    fn leases_of_silent_owners(&self, since: i64) -> Result<Vec<LeaseId>> {
        query_all(
            self.0,
            "SELECT lease FROM leases WHERE standing = 'outstanding' AND NOT EXISTS
                 (SELECT 1 FROM owners WHERE owners.owner = leases.owner AND beat_ms >= ?1)
                 AND owner <> ?2
             ORDER BY lease",
            params![since, ROWS_OWNER],
            |row| row.get::<_, String>(0).map(LeaseId::new),
        )
    }

    fn leases_of_others(&self, run: &RunId, owner: &OwnerId) -> Result<Vec<LeaseId>> {
        query_all(
            self.0,
            "SELECT lease FROM leases WHERE standing = 'outstanding' AND run = ?1 AND owner <> ?2
                 AND owner <> ?3
             ORDER BY lease",
            [run.as_str(), owner.as_str(), ROWS_OWNER],
            |row| row.get::<_, String>(0).map(LeaseId::new),
        )
    }
}

impl SqliteRecords<'_> {
    /// Writes the time zone in which days and months begin.
    pub(crate) fn set_calendar(&self, calendar: &BudgetCalendar) -> Result<()> {
        execute(
            self.0,
            "INSERT OR REPLACE INTO ledger_settings VALUES ('zone', ?1)",
            [calendar.zone()],
        )?;
        self.1.calendar.insert((), calendar.clone());
        Ok(())
    }

    /// Labels of runs and of caps, sorted: each has a cap for days and one for months.
    pub(crate) fn labels_with_caps(&self) -> Result<Vec<BudgetLabel>> {
        let labels = query_all(
            self.0,
            "SELECT substr(scope, length('month:') + 1) FROM budgets WHERE scope LIKE 'month:%'",
            [],
            |row| labels_from(row, 0),
        )?;
        Ok(labels.into_iter().flatten().collect::<BTreeSet<_>>().into_iter().collect())
    }
}

fn account_from(row: &Row<'_>) -> Result<Account> {
    let money = |column| row.get(column).map(Money::from_pico);
    Ok(Account {
        committed: money(0)?,
        presumed: money(1)?,
        outstanding: money(2)?,
        overrun: money(3)?,
        stopped: row.get(4)?,
    })
}

fn lease_from(row: &Row<'_>) -> Result<Lease> {
    let text = |column| row.get::<_, String>(column);
    let lease_state = match text(6)?.as_str() {
        "settled" => LeaseState::Settled(Money::from_pico(row.get(7)?)),
        "presumed" => LeaseState::Presumed,
        // The table's check allows nothing else.
        _ => LeaseState::Outstanding,
    };
    Ok(Lease {
        owner: OwnerId::new(text(0)?),
        run: RunId::new(text(1)?),
        labels: labels_from(row, 9)?,
        endpoint: text(2)?,
        tokens: row.get::<_, i64>(3)?.unsigned_abs(),
        worst_cost: Money::from_pico(row.get(4)?),
        admitted: row.get(5)?,
        day: text(8)?.parse().map_err(|error| unreadable(8, error))?,
        lease_state,
    })
}

/// Labels of a column, with commas between them.
fn labels_from(row: &Row<'_>, column: usize) -> Result<Vec<BudgetLabel>> {
    BudgetLabel::split(&row.get::<_, String>(column)?).map_err(|error| unreadable(column, error))
}
