//! Shared budgets of a fleet.

use super::RedisLedger;
use crate::{
    admission::{Budget, BudgetCalendar, Scope, SharedBudget},
    budgets::{BudgetRecords, Spending},
    error::LedgerError,
    redis::{encoding::budget_of, failure::odd_answer, scripts},
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use juror_types::{budget_label::BudgetLabel, id::RunId, usage::Money};
use std::collections::BTreeSet;

/// Scopes that one script tells at most: it holds up everything else meanwhile.
const SCOPES_AT_ONCE: usize = 500;

/// Scripts know no time zones: they get the changes of the next ten years, which are written anew
/// whenever a process sets the zone.
const KNOWN_CHANGES: SignedDuration = SignedDuration::from_hours(10 * 366 * 24);
/// The clock of Redis may be behind that of the process.
const PAST_CHANGES: SignedDuration = SignedDuration::from_hours(366 * 24);

#[async_trait]
impl BudgetRecords for RedisLedger {
    async fn cap(&self, budget: &SharedBudget) -> Result<Option<Budget>, LedgerError> {
        let key = budget.key();
        let answer = self.connection.perform(&scripts::LEDGER, &[key.clone(), key]).await?;
        let cap = answer.first().and_then(|text| budget_of(text));
        cap.ok_or_else(|| odd_answer("tell a budget"))
    }

    /// Without a record, both periods are written down as unlimited when a run is opened.
    async fn set_cap(
        &self,
        budget: &SharedBudget,
        cap: Budget,
    ) -> Result<Option<Budget>, LedgerError> {
        self.set_budget(budget.key(), cap, Money::ZERO, budget.label.as_ref()).await
    }

    async fn label_run(&self, run: &RunId, labels: &[BudgetLabel]) -> Result<(), LedgerError> {
        let arguments = [run.to_string(), BudgetLabel::join(labels)];
        self.connection.perform(&scripts::LABEL_RUN, &arguments).await.map(drop)
    }

    async fn labels(&self) -> Result<Vec<BudgetLabel>, LedgerError> {
        let mut command = redis::cmd("SMEMBERS");
        command.arg(self.connection.key("labels"));
        let known: BTreeSet<String> = self.connection.command(&command).await?;
        let labels: Result<BTreeSet<BudgetLabel>, _> =
            known.iter().map(|label| label.parse()).collect();
        labels.map(Vec::from_iter).map_err(|_| odd_answer("tell the labels of budgets"))
    }

    async fn calendar(&self) -> Result<BudgetCalendar, LedgerError> {
        let answer = self.connection.perform(&scripts::TELL_ZONE, &[]).await?;
        zone_of(answer.first())
    }

    async fn set_calendar(&self, calendar: &BudgetCalendar) -> Result<BudgetCalendar, LedgerError> {
        let now = Timestamp::now();
        let from = now.checked_sub(PAST_CHANGES).unwrap_or(Timestamp::UNIX_EPOCH);
        let until = now.checked_add(KNOWN_CHANGES).unwrap_or(Timestamp::MAX);
        let offsets = calendar.offsets(from, until);
        let offsets: Vec<String> =
            offsets.iter().map(|(since, seconds)| format!("{since}:{seconds}")).collect();
        let arguments = [calendar.zone().to_owned(), offsets.join(" ")];
        let answer = self.connection.perform(&scripts::SET_ZONE, &arguments).await?;
        zone_of(answer.first())
    }

    async fn spending(&self, scopes: &[Scope]) -> Result<Vec<Spending>, LedgerError> {
        let mut spending = Vec::with_capacity(scopes.len());
        for part in scopes.chunks(SCOPES_AT_ONCE) {
            let accounts = self.accounts(part).await?;
            let told = part.iter().cloned().zip(accounts);
            spending.extend(told.map(|(scope, (budget, account, _))| Spending {
                scope,
                budget,
                account,
            }));
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

/// The calendar of a zone as scripts tell it; nothing is UTC.
fn zone_of(name: Option<&String>) -> Result<BudgetCalendar, LedgerError> {
    match name.map(String::as_str) {
        None => Err(odd_answer("tell its time zone")),
        Some("") => Ok(BudgetCalendar::UTC),
        Some(zone) => BudgetCalendar::new(zone).map_err(|unknown| {
            LedgerError::Broken(format!("the ledger's time zone in Redis is not usable: {unknown}"))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_server::TestRedis;
    use super::*;
    use crate::{admission::differential::TestClock, budgets::conformance};

    #[tokio::test]
    async fn it_conforms() {
        let (redis, clock) = (TestRedis::shared(), TestClock::new());
        let backend = RedisLedger::open_with_clock(redis.settings(), clock.shared()).await.unwrap();
        conformance::check(&backend, &|now| clock.set(now)).await;
        backend.close().await;
    }
}
