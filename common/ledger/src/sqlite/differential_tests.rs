use super::*;
use crate::admission::{
    Account, Budget, Period,
    budgets::Scope,
    differential::{Pair, Subject, TestClock},
    differential_steps::steps,
};
use juror_types::id::{OwnerId, RunId};
use proptest::prelude::*;

impl Subject for SqliteLedger {
    async fn set_period(&self, period: Period, budget: Budget) {
        self.set_period_budget(period, budget).await.unwrap();
    }

    async fn period(&self, period: Period) -> Option<Budget> {
        self.period_budget(period).await.unwrap()
    }

    async fn account(&self, scope: &Scope) -> Account {
        let key = scope.account_key();
        let mut spending = self.spending().await.unwrap().into_iter();
        spending
            .find(|spending| spending.scope == key)
            .map_or_else(Account::default, |of| of.account)
    }

    async fn adopt_leases(&self, run: &RunId, owner: &OwnerId) -> Option<usize> {
        Some(self.adopt(run, owner).await.unwrap())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn memory_and_database_decide_alike(steps in steps()) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("juror.db");
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let clock = TestClock::new();
            let backend = SqliteLedger::open_with_clock(&file, clock.shared()).unwrap();
            let mut pair = Pair::new(backend, clock).await;
            for step in &steps {
                pair.take(step).await?;
            }
            pair.compare_accounts().await?;
            pair.backend.close().await;
            pair.backend = SqliteLedger::open(&file).unwrap();
            pair.compare_ledgers().await?;
            pair.compare_accounts().await
        })?;
    }
}
