//! The ledger's records in SQLite.

use crate::{
    admission::{
        Budget, BudgetCalendar,
        budget_decision::Account,
        records::{Lease, LeaseState, LedgerRecords},
        scope::Scope,
    },
    batches::ROWS_OWNER,
    sqlite::{
        budget_labels,
        failure::{SqliteFailure, unreadable},
        write_back::WriteBackCache,
    },
};
use juror_types::{
    budget_label::BudgetLabel,
    id::{LeaseId, OwnerId, RunId},
    usage::Money,
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use std::collections::BTreeSet;

/// Records inside the current transaction of this connection, with its cache.
pub(crate) struct SqliteRecords<'a>(pub(crate) &'a Connection, pub(crate) &'a WriteBackCache);

impl LedgerRecords for SqliteRecords<'_> {
    type Error = SqliteFailure;

    fn calendar(&self) -> Result<BudgetCalendar, SqliteFailure> {
        self.1.calendar(|| {
            let mut statement =
                self.0.prepare_cached("SELECT value FROM ledger_settings WHERE name = 'zone'")?;
            let zone: Option<String> = statement.query_row([], |row| row.get(0)).optional()?;
            let calendar = zone.map_or(Ok(BudgetCalendar::UTC), |zone| BudgetCalendar::new(&zone));
            Ok(calendar.map_err(|unknown| unreadable(0, unknown))?)
        })
    }

    fn budget(&self, key: &str) -> Result<Option<Budget>, SqliteFailure> {
        self.1.budget(key, || {
            let mut statement =
                self.0.prepare_cached("SELECT cap_pico FROM budgets WHERE scope = ?1")?;
            let cap: Option<Option<i64>> =
                statement.query_row([key], |row| row.get(0)).optional()?;
            Ok(cap.map(budget_of))
        })
    }

    fn set_budget(&mut self, key: &str, budget: Budget) -> Result<(), SqliteFailure> {
        let cap = match budget {
            Budget::Unlimited => None,
            Budget::Cap(cap) => Some(cap.pico()),
        };
        self.1.delete_budget(key);
        self.0
            .prepare_cached("INSERT OR REPLACE INTO budgets (scope, cap_pico) VALUES (?1, ?2)")?
            .execute(params![key, cap])?;
        Ok(())
    }

    fn labels(&self, run: &RunId) -> Result<Vec<BudgetLabel>, SqliteFailure> {
        self.1.labels(run, || budget_labels::labels_of_run(self.0, run))
    }

    fn set_labels(&mut self, run: &RunId, labels: &[BudgetLabel]) -> Result<(), SqliteFailure> {
        self.1.delete_labels(run);
        budget_labels::write(self.0, run, labels)
    }

    fn account(&self, scope: &Scope) -> Result<Account, SqliteFailure> {
        self.1.account(scope.account_key(), |key| {
            let mut statement = self.0.prepare_cached(
                "SELECT committed_pico, presumed_pico, outstanding_pico, overrun_pico, stopped
                 FROM accounts WHERE scope = ?1",
            )?;
            Ok(statement.query_row([key], account_from).optional()?.unwrap_or_default())
        })
    }

    fn set_account(&mut self, scope: &Scope, account: &Account) -> Result<(), SqliteFailure> {
        self.1.set_account(scope.account_key(), *account);
        Ok(())
    }

    fn lease(&self, id: &LeaseId) -> Result<Option<Lease>, SqliteFailure> {
        let mut statement = self.0.prepare_cached(
            "SELECT owner, run, endpoint, tokens, worst_pico, admitted_ms, standing, cost_pico, day,
                 labels
             FROM leases WHERE lease = ?1",
        )?;
        Ok(statement.query_row([id.as_str()], lease_from).optional()?)
    }

    fn set_lease(&mut self, id: &LeaseId, lease: &Lease) -> Result<(), SqliteFailure> {
        let (lease_state, cost) = match lease.lease_state {
            LeaseState::Outstanding => ("outstanding", None),
            LeaseState::Settled(cost) => ("settled", Some(cost.pico())),
            LeaseState::Presumed => ("presumed", None),
        };
        self.0
            .prepare_cached(
                "INSERT OR REPLACE INTO leases (lease, owner, run, endpoint, tokens, worst_pico,
                     admitted_ms, standing, cost_pico, day, labels)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            )?
            .execute(params![
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
            ])?;
        Ok(())
    }

    fn remove_lease(&mut self, id: &LeaseId) -> Result<(), SqliteFailure> {
        self.0.prepare_cached("DELETE FROM leases WHERE lease = ?1")?.execute([id.as_str()])?;
        Ok(())
    }

    fn record_heartbeat(&mut self, owner: &OwnerId, now: i64) -> Result<(), SqliteFailure> {
        self.0
            .prepare_cached("INSERT OR REPLACE INTO owners (owner, beat_ms) VALUES (?1, ?2)")?
            .execute(params![owner.as_str(), now])?;
        Ok(())
    }

    fn leases_of_silent_owners(&self, since: i64) -> Result<Vec<LeaseId>, SqliteFailure> {
        let mut statement = self.0.prepare_cached(
            "SELECT lease FROM leases WHERE standing = 'outstanding' AND NOT EXISTS
                 (SELECT 1 FROM owners WHERE owners.owner = leases.owner AND beat_ms >= ?1)
                 AND owner <> ?2
             ORDER BY lease",
        )?;
        let leases =
            statement.query_map(params![since, ROWS_OWNER], |row| row.get::<_, String>(0))?;
        leases.map(|lease| Ok(LeaseId::new(lease?))).collect()
    }

    fn leases_of_others(
        &self,
        run: &RunId,
        owner: &OwnerId,
    ) -> Result<Vec<LeaseId>, SqliteFailure> {
        let mut statement = self.0.prepare_cached(
            "SELECT lease FROM leases WHERE standing = 'outstanding' AND run = ?1 AND owner <> ?2
                 AND owner <> ?3
             ORDER BY lease",
        )?;
        let parameters = [run.as_str(), owner.as_str(), ROWS_OWNER];
        let leases = statement.query_map(parameters, |row| row.get::<_, String>(0))?;
        leases.map(|lease| Ok(LeaseId::new(lease?))).collect()
    }
}

impl SqliteRecords<'_> {
    /// Writes the time zone in which days and months begin.
    pub(crate) fn set_calendar(&self, calendar: &BudgetCalendar) -> Result<(), SqliteFailure> {
        self.1.delete_calendar();
        self.0
            .prepare_cached("INSERT OR REPLACE INTO ledger_settings VALUES ('zone', ?1)")?
            .execute([calendar.zone()])?;
        Ok(())
    }

    /// Records a name; returns false if it was recorded before.
    pub(crate) fn record_once(&self, name: &str) -> Result<bool, SqliteFailure> {
        let mut statement =
            self.0.prepare_cached("INSERT OR IGNORE INTO ledger_settings VALUES (?1, '')")?;
        Ok(statement.execute([name])? == 1)
    }

    /// Deletes owners without a heartbeat since this time and without leases.
    pub(crate) fn delete_idle_owners(&self, since: i64) -> Result<(), SqliteFailure> {
        self.0
            .prepare_cached(
                "DELETE FROM owners WHERE beat_ms < ?1 AND NOT EXISTS
                     (SELECT 1 FROM leases WHERE leases.owner = owners.owner
                          AND standing = 'outstanding')",
            )?
            .execute([since])?;
        Ok(())
    }

    /// Deletes at most `limit` leases that are not outstanding and were admitted before this time;
    /// returns their number.
    pub(crate) fn delete_ended_leases(
        &self,
        admitted_before: i64,
        at_most: usize,
    ) -> Result<usize, SqliteFailure> {
        let mut statement = self.0.prepare_cached(
            "DELETE FROM leases WHERE lease IN
                 (SELECT lease FROM leases WHERE standing <> 'outstanding' AND admitted_ms < ?1
                  LIMIT ?2)",
        )?;
        Ok(statement.execute(params![admitted_before, at_most as i64])?)
    }
}

impl SqliteRecords<'_> {
    /// Labels of runs and of caps: each has a cap for days and one for months.
    pub(crate) fn labels_with_caps(&self) -> Result<Vec<BudgetLabel>, SqliteFailure> {
        let mut statement = self.0.prepare_cached(
            "SELECT substr(scope, length('month:') + 1) FROM budgets WHERE scope LIKE 'month:%'",
        )?;
        let labels = statement.query_map([], |row| budget_labels::from_column(row, 0))?;
        let labels = labels.collect::<rusqlite::Result<Vec<_>>>()?;
        Ok(labels.into_iter().flatten().collect::<BTreeSet<_>>().into_iter().collect())
    }
}

/// A cap from its column.
pub(crate) fn budget_of(cap_pico: Option<i64>) -> Budget {
    cap_pico.map_or(Budget::Unlimited, |pico| Budget::Cap(Money::from_pico(pico)))
}

/// An account from five columns, beginning with the first.
pub(crate) fn account_from(row: &Row<'_>) -> rusqlite::Result<Account> {
    let money = |column| row.get(column).map(Money::from_pico);
    Ok(Account {
        committed: money(0)?,
        presumed: money(1)?,
        outstanding: money(2)?,
        overrun: money(3)?,
        stopped: row.get(4)?,
    })
}

fn lease_from(row: &Row<'_>) -> rusqlite::Result<Lease> {
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
        labels: budget_labels::from_column(row, 9)?,
        endpoint: text(2)?,
        tokens: row.get::<_, i64>(3)?.unsigned_abs(),
        worst_cost: Money::from_pico(row.get(4)?),
        admitted: row.get(5)?,
        day: text(8)?.parse().map_err(|error| unreadable(8, error))?,
        lease_state,
    })
}
