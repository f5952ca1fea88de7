use super::*;
use crate::admission::tests::{
    differential::{Pair, Subject, TestClock},
    differential_steps::{beginning, steps},
};
use juror_types::id::{OwnerId, RunId};
use proptest::prelude::*;

impl Subject for SqliteLedger {
    async fn adopt_leases(&self, run: &RunId, owner: &OwnerId) -> Option<usize> {
        Some(self.adopt(run, owner).await.unwrap())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn memory_and_database_admit_equally(steps in steps(), now in beginning()) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("juror.db");
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let clock = TestClock::at(now);
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
