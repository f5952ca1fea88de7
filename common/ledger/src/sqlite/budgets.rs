//! Shared budgets in `juror.db`.

use crate::{
    admission::{
        Budget, BudgetCalendar, Scope, SharedBudget, records::LedgerRecords as _, state_machine,
    },
    budgets::{BudgetRecords, Spending},
    error::LedgerError,
    sqlite::{SqliteLedger, statements::execute},
};
use async_trait::async_trait;
use juror_types::{budget_label::BudgetLabel, id::RunId};

#[async_trait]
impl BudgetRecords for SqliteLedger {
    async fn cap(&self, budget: &SharedBudget) -> Result<Option<Budget>, LedgerError> {
        let key = budget.key();
        self.writer.perform(move |connection, memory| memory.records(connection).budget(&key)).await
    }

    async fn set_cap(
        &self,
        budget: &SharedBudget,
        cap: Budget,
    ) -> Result<Option<Budget>, LedgerError> {
        let budget = budget.clone();
        self.writer
            .perform_durably(move |connection, memory| {
                memory.mark_changed();
                state_machine::set_cap(&mut memory.records(connection), &budget, cap)
            })
            .await
    }

    async fn set_budget_labels(
        &self,
        run: &RunId,
        labels: &[BudgetLabel],
    ) -> Result<(), LedgerError> {
        let (run, labels) = (run.clone(), labels.to_vec());
        self.writer
            .perform_durably(move |connection, memory| {
                state_machine::set_budget_labels(&mut memory.records(connection), &run, &labels)
            })
            .await
    }

    async fn labels(&self) -> Result<Vec<BudgetLabel>, LedgerError> {
        self.writer
            .perform(|connection, memory| memory.records(connection).labels_with_caps())
            .await
    }

    async fn calendar(&self) -> Result<BudgetCalendar, LedgerError> {
        self.writer.perform(|connection, memory| memory.records(connection).calendar()).await
    }

    async fn set_calendar(&self, calendar: &BudgetCalendar) -> Result<BudgetCalendar, LedgerError> {
        let calendar = calendar.clone();
        self.writer
            .perform_durably(move |connection, memory| {
                // A call that waits for money may count in another day now.
                memory.mark_changed();
                let records = memory.records(connection);
                let before = records.calendar()?;
                records.set_calendar(&calendar)?;
                Ok(before)
            })
            .await
    }

    async fn spending(&self, scopes: &[Scope]) -> Result<Vec<Spending>, LedgerError> {
        let scopes = scopes.to_vec();
        self.writer
            .perform(move |connection, memory| {
                let records = memory.records(connection);
                let spending = scopes.iter().map(|scope| {
                    let budget = records.budget(&scope.budget_key())?;
                    Ok(Spending { scope: scope.clone(), budget, account: records.account(scope)? })
                });
                spending.collect()
            })
            .await
    }

    async fn record_alert(&self, scope: &Scope, share: &str) -> Result<bool, LedgerError> {
        let name = format!("alert:{}:{share}", scope.account_key());
        let statement = "INSERT OR IGNORE INTO ledger_settings VALUES (?1, '')";
        self.writer
            .perform_durably(move |connection, _| Ok(execute(connection, statement, [&name])? == 1))
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{admission::tests::differential::TestClock, budgets::conformance};

    #[tokio::test]
    async fn store_conforms() {
        let folder = tempfile::tempdir().unwrap();
        let (file, clock) = (folder.path().join("juror.db"), TestClock::new());
        let backend = SqliteLedger::open_with_clock(&file, clock.shared()).unwrap();
        conformance::check(&backend, &|now| clock.set(now)).await;
        backend.close().await;
    }
}
