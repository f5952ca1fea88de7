use super::{test_server::TestRedis, *};
use crate::admission::{
    differential::{Pair, Subject, TestClock},
    differential_steps::{LedgerStep, beginning, steps, steps_of_limits},
};
use juror_types::id::{OwnerId, RunId};
use proptest::{prelude::*, test_runner::TestCaseError};

impl Subject for RedisLedger {
    /// No lock proves to a fleet that an owner is dead; the leases of a complete run end whoever
    /// holds them, as if nobody that asks here adopted them.
    async fn adopt_leases(&self, run: &RunId, owner: &OwnerId) -> Option<usize> {
        match owner.as_str() {
            "owner-2" => Some(self.close_leases(run).await.unwrap()),
            _ => None,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn memory_and_redis_decide_alike(steps in steps(), now in beginning()) {
        compare(&steps, TestClock::at(now))?;
    }

    #[test]
    fn memory_and_redis_keep_limits_alike(steps in steps_of_limits()) {
        compare(&steps, TestClock::new())?;
    }
}

/// Four workers ask before anybody knows a limit; some of their calls are refused by it.
#[test]
fn refusals_before_a_limit_was_known_halve_nothing_in_redis_either() {
    let reported = |refused| LedgerStep::Observe {
        endpoint: 0,
        requests: None,
        tokens: Some(60_000),
        refused,
    };
    let request =
        |lease| LedgerStep::AdmissionRequest { lease, run: 0, endpoint: 0, tokens: 100, worst: 0 };
    let pass = |milliseconds| LedgerStep::Pass { milliseconds };
    let mut steps: Vec<LedgerStep> = (0..8).map(request).collect();
    steps.extend([reported(Some(100)), pass(20), reported(Some(100)), pass(200)]);
    for lease in 8..40 {
        steps.extend([request(lease), reported(None), pass(100)]);
    }
    compare(&steps, TestClock::new()).unwrap();
}

fn compare(steps: &[LedgerStep], clock: TestClock) -> Result<(), TestCaseError> {
    let redis = TestRedis::shared();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let backend = RedisLedger::open_with_clock(redis.settings(), clock.shared()).await.unwrap();
        let mut pair = Pair::new(backend, clock).await;
        for step in steps {
            pair.take(step).await?;
        }
        let compared = pair.compare_accounts().await;
        pair.backend.close().await;
        compared
    })
}
