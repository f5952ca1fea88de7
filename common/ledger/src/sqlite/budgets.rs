//! Shared budgets in `juror.db`.

use crate::{
    admission::{Budget, BudgetCalendar, Period, Scope, records::Books as _},
    budgets::{BudgetRecords, Spending},
    error::LedgerError,
    sqlite::{SqliteLedger, records::LocalBooks},
};
use async_trait::async_trait;

#[async_trait]
impl BudgetRecords for SqliteLedger {
    async fn cap(&self, period: Period) -> Result<Option<Budget>, LedgerError> {
        self.writer
            .perform(move |connection, memory| {
                LocalBooks(connection, &memory.drafts).budget(period.budget_key())
            })
            .await
    }

    async fn set_cap(&self, period: Period, cap: Budget) -> Result<Option<Budget>, LedgerError> {
        self.writer
            .perform_durably(move |connection, memory| {
                memory.frees_something();
                let mut books = LocalBooks(connection, &memory.drafts);
                let before = books.budget(period.budget_key())?;
                books.set_budget(period.budget_key(), cap)?;
                Ok(before)
            })
            .await
    }

    async fn calendar(&self) -> Result<BudgetCalendar, LedgerError> {
        self.writer
            .perform(|connection, memory| LocalBooks(connection, &memory.drafts).calendar())
            .await
    }

    async fn set_calendar(&self, calendar: &BudgetCalendar) -> Result<BudgetCalendar, LedgerError> {
        let calendar = calendar.clone();
        self.writer
            .perform_durably(move |connection, memory| {
                // A call that waits for money may belong to another day now.
                memory.frees_something();
                let books = LocalBooks(connection, &memory.drafts);
                let before = books.calendar()?;
                books.set_calendar(&calendar)?;
                Ok(before)
            })
            .await
    }

    async fn spending(&self, scopes: &[Scope]) -> Result<Vec<Spending>, LedgerError> {
        let scopes = scopes.to_vec();
        self.writer
            .perform(move |connection, memory| {
                let books = LocalBooks(connection, &memory.drafts);
                let spending = scopes.iter().map(|scope| {
                    let budget = books.budget(&scope.budget_key())?;
                    Ok(Spending { scope: scope.clone(), budget, account: books.account(scope)? })
                });
                spending.collect()
            })
            .await
    }

    async fn record_alert(&self, scope: &Scope, share: &str) -> Result<bool, LedgerError> {
        let name = format!("alert:{}:{share}", scope.account_key());
        self.writer
            .perform_durably(move |connection, memory| {
                LocalBooks(connection, &memory.drafts).record_once(&name)
            })
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{admission::differential::TestClock, budgets::conformance};

    #[tokio::test]
    async fn it_conforms() {
        let folder = tempfile::tempdir().unwrap();
        let (file, clock) = (folder.path().join("juror.db"), TestClock::new());
        let backend = SqliteLedger::open_with_clock(&file, clock.shared()).unwrap();
        conformance::check(&backend, &|now| clock.set(now)).await;
        backend.close().await;
    }
}
