//! Remaining budgets of a fleet, for its metrics.

use super::RedisLedger;
use crate::{
    admission::{Budget, Period, Scope},
    budgets::BudgetRecords as _,
    error::LedgerError,
    redis::RunStatus,
};
use jiff::Timestamp;
use juror_telemetry::{BudgetScope, Metrics};
use juror_types::usage::Money;

impl RedisLedger {
    /// Records the remaining budgets of today, of this month and, among active runs, of the one
    /// with the least remaining. Returns false if Redis is not reachable.
    pub async fn measure(&self, metrics: &Metrics) -> bool {
        let left = self.budgets_left(Timestamp::now()).await;
        let scopes = [BudgetScope::Run, BudgetScope::Day, BudgetScope::Month];
        for (scope, left) in scopes.into_iter().zip(left.as_ref().unwrap_or(&[None; 3])) {
            metrics.set_budget_remaining(scope, *left);
        }
        left.is_ok()
    }

    async fn budgets_left(&self, now: Timestamp) -> Result<[Option<Money>; 3], LedgerError> {
        let mut least = None;
        for run in self.announced_runs().await? {
            if self.run_status(&run).await?.is_some_and(|status| may_spend(&status)) {
                let left = self.left(&Scope::Run(run)).await?;
                least = [least, left].into_iter().flatten().min();
            }
        }
        let calendar = self.calendar().await?;
        let [day, month] = Period::ALL.map(|of| calendar.scope(&of.into(), now));
        Ok([least, self.left(&day).await?, self.left(&month).await?])
    }

    /// None where there is no cap.
    async fn left(&self, scope: &Scope) -> Result<Option<Money>, LedgerError> {
        let (budget, account, _) = self.spent(scope).await?;
        let Some(Budget::Cap(cap)) = budget else { return Ok(None) };
        Ok(Some((cap - account.committed - account.outstanding).max(Money::ZERO)))
    }
}

/// True if calls may still be made for a run.
fn may_spend(status: &RunStatus) -> bool {
    let reported = status.progress.as_ref().and_then(|progress| progress.reported_at);
    let is_complete = status.expected.is_some() && status.expected == reported;
    !status.cancelled && !is_complete
}

#[cfg(test)]
mod tests {
    use super::super::{
        run_tests::record,
        test_server::TestRedis,
        tests::{admitted, money},
    };
    use super::*;
    use crate::{admission::Admission as _, test_requests::run};

    fn left(metrics: &Metrics) -> Vec<String> {
        let text = metrics.render();
        let samples =
            text.lines().filter_map(|line| line.strip_prefix("juror_budget_remaining_usd"));
        samples.map(str::to_owned).collect()
    }

    #[tokio::test]
    async fn remaining_budget_subtracts_reservations_and_covers_active_runs() {
        let redis = TestRedis::shared();
        let backend = RedisLedger::open(redis.settings()).await.unwrap();
        let metrics = Metrics::recording();
        assert!(backend.measure(&metrics).await);
        assert!(left(&metrics).is_empty());

        const DOLLAR: i64 = 1_000_000_000_000;
        backend.open_run(&run(), Budget::Cap(money(5 * DOLLAR))).await.unwrap();
        backend.announce_run(&record()).await.unwrap();
        let day = Budget::Cap(money(10 * DOLLAR));
        backend.set_cap(&Period::Day.into(), day).await.unwrap();
        admitted(&backend, "a", "here", DOLLAR).await;
        assert!(backend.measure(&metrics).await);
        assert_eq!(left(&metrics), ["{scope=\"day\"} 9", "{scope=\"run\"} 4"]);

        backend.cancel_run(&run()).await.unwrap();
        assert!(backend.measure(&metrics).await);
        assert_eq!(left(&metrics), ["{scope=\"day\"} 9"]);
        backend.close().await;
    }
}
