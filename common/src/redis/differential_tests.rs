use super::{test_server::TestRedis, *};
use crate::{
    admission::{
        Account, Budget, Period,
        budgets::Scope,
        differential::{Pair, Subject, TestClock, steps},
    },
    id::{OwnerId, RunId},
};
use proptest::prelude::*;

impl Subject for RedisHome {
    async fn set_period(&self, period: Period, budget: Budget) {
        self.set_period_budget(period, budget).await.unwrap();
    }

    async fn period(&self, period: Period) -> Option<Budget> {
        self.period_budget(period).await.unwrap()
    }

    async fn account(&self, scope: &Scope) -> Account {
        let (_, account, _) = self.spent(scope).await.unwrap();
        account
    }

    /// No lock proves to a fleet that an owner is dead.
    async fn adopt_leases(&self, _: &RunId, _: &OwnerId) -> Option<usize> {
        None
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn memory_and_redis_decide_alike(steps in steps()) {
        let redis = TestRedis::shared();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let clock = TestClock::new();
            let home = RedisHome::open_with_clock(redis.settings(), clock.shared()).await.unwrap();
            let mut pair = Pair::new(home, clock).await;
            for step in &steps {
                pair.take(step).await?;
            }
            let compared = pair.compare_accounts().await;
            pair.home.close().await;
            compared
        })?;
    }
}
