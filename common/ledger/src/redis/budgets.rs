//! Shared budgets of a fleet.

use super::RedisLedger;
use crate::{
    admission::{Budget, BudgetCalendar, Scope, SharedBudget},
    budgets::{BudgetRecords, Spending},
    error::LedgerError,
    redis::{encoding::budget_of, failure::unexpected_reply, scripts},
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use juror_types::{budget_label::BudgetLabel, id::RunId, usage::Money};
use std::collections::BTreeSet;

/// Maximum number of scopes that one script reads: a script blocks all other commands.
const MAX_SCOPES_PER_SCRIPT: usize = 500;

/// Period of time zone changes that is stored with the zone: scripts know no time zones. Each
/// process that sets the zone stores it again.
const ZONE_TABLE_SPAN: SignedDuration = SignedDuration::from_hours(10 * 366 * 24);
/// Period of past changes, for a Redis whose clock is behind that of the process.
const ZONE_TABLE_PAST: SignedDuration = SignedDuration::from_hours(366 * 24);

#[async_trait]
impl BudgetRecords for RedisLedger {
    async fn cap(&self, budget: &SharedBudget) -> Result<Option<Budget>, LedgerError> {
        let key = budget.key();
        let arguments = [key.clone(), key];
        let step = "read a budget";
        self.connection.perform_for(&scripts::READ_ACCOUNTS, &arguments, step, budget_of).await
    }

    /// Opening a run writes unlimited records of both periods where there are none.
    async fn set_cap(
        &self,
        budget: &SharedBudget,
        cap: Budget,
    ) -> Result<Option<Budget>, LedgerError> {
        self.set_budget(budget.key(), cap, Money::ZERO, budget.label.as_ref()).await
    }

    async fn set_budget_labels(
        &self,
        run: &RunId,
        labels: &[BudgetLabel],
    ) -> Result<(), LedgerError> {
        let arguments = [run.to_string(), BudgetLabel::join(labels)];
        self.connection.perform(&scripts::SET_BUDGET_LABELS, &arguments).await.map(drop)
    }

    async fn labels(&self) -> Result<Vec<BudgetLabel>, LedgerError> {
        let mut command = redis::cmd("SMEMBERS");
        command.arg(self.connection.key("labels"));
        let known: BTreeSet<String> = self.connection.command(&command).await?;
        let labels: Result<BTreeSet<BudgetLabel>, _> =
            known.iter().map(|label| label.parse()).collect();
        labels.map(Vec::from_iter).map_err(|_| unexpected_reply("list the labels of budgets"))
    }

    async fn calendar(&self) -> Result<BudgetCalendar, LedgerError> {
        let answer = self.connection.perform(&scripts::REPORT_ZONE, &[]).await?;
        zone_of(answer.first())
    }

    async fn set_calendar(&self, calendar: &BudgetCalendar) -> Result<BudgetCalendar, LedgerError> {
        let now = Timestamp::now();
        let from = now.checked_sub(ZONE_TABLE_PAST).unwrap_or(Timestamp::UNIX_EPOCH);
        let until = now.checked_add(ZONE_TABLE_SPAN).unwrap_or(Timestamp::MAX);
        let offsets = calendar.offsets(from, until);
        let offsets: Vec<String> =
            offsets.iter().map(|(since, seconds)| format!("{since}:{seconds}")).collect();
        let arguments = [calendar.zone().to_owned(), offsets.join(" ")];
        let answer = self.connection.perform(&scripts::SET_ZONE, &arguments).await?;
        zone_of(answer.first())
    }

    async fn spending(&self, scopes: &[Scope]) -> Result<Vec<Spending>, LedgerError> {
        let mut spending = Vec::with_capacity(scopes.len());
        for part in scopes.chunks(MAX_SCOPES_PER_SCRIPT) {
            for (scope, (budget, account, _)) in part.iter().zip(self.accounts(part).await?) {
                spending.push(Spending { scope: scope.clone(), budget, account });
            }
        }
        Ok(spending)
    }

    async fn record_alert(&self, scope: &Scope, share: &str) -> Result<bool, LedgerError> {
        let account = self.connection.key(&format!("account:{}", scope.account_key()));
        let mut command = redis::cmd("HSETNX");
        command.arg(account).arg(format!("alert:{share}")).arg("1");
        self.connection.command(&command).await
    }
}

/// The calendar of a zone that a script returned; an empty name is UTC.
fn zone_of(name: Option<&String>) -> Result<BudgetCalendar, LedgerError> {
    match name.map(String::as_str) {
        None => Err(unexpected_reply("read the time zone")),
        Some("") => Ok(BudgetCalendar::UTC),
        Some(zone) => BudgetCalendar::new(zone).map_err(|unknown| {
            LedgerError::Broken(format!("the ledger's time zone in Redis is invalid: {unknown}"))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_server::TestRedis;
    use super::*;
    use crate::{admission::tests::differential::TestClock, budgets::conformance};

    #[tokio::test]
    async fn store_conforms() {
        let (redis, clock) = (TestRedis::shared(), TestClock::new());
        let backend = RedisLedger::open_with_clock(redis.settings(), clock.shared()).await.unwrap();
        conformance::check(&backend, &|now| clock.set(now)).await;
        backend.close().await;
    }
}
