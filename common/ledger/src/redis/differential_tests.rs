use super::{test_server::TestRedis, *};
use crate::admission::tests::{
    differential::{Pair, Subject, TestClock},
    differential_steps::{LedgerStep, beginning, steps, steps_of_limits},
};
use juror_types::id::{OwnerId, RunId};
use proptest::{prelude::*, test_runner::TestCaseError};

impl Subject for RedisLedger {
    /// Always none: no lock proves the death of an owner in a fleet; the leases of a complete run
    /// end for all holders.
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
    fn memory_and_redis_admit_equally(steps in steps(), now in beginning()) {
        compare(&steps, TestClock::at(now))?;
    }

    #[test]
    fn memory_and_redis_limit_equally(steps in steps_of_limits()) {
        compare(&steps, TestClock::new())?;
    }
}

/// Four workers request admission before a limit is known; it refuses some of their calls.
#[test]
fn redis_does_not_halve_an_unknown_limit() {
    let reported = |refused| LedgerStep::Observe {
        endpoint: 0,
        requests: None,
        tokens: Some(60_000),
        refused,
        rule: None,
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
