//! Admission for a fleet: the decisions of the state machine, made by scripts in Redis.

use crate::redis::{
    LEASE_TTL, RedisLedger, connection::Connection, failure::odd_answer, scripts,
    store::FinishArguments,
};
use crate::{
    admission::{
        Admission, AdmissionDecision, Ask, Budget, CountRule, Ledger, Limits, MonthLedger,
        Observation, Settled, Settlement, TokenCounting, budgets::Account, scope::Scope,
    },
    budgets::BudgetRecords as _,
    error::LedgerError,
    redis::encoding::{MAX_UNITS, amount, count, milliseconds, money, optional_units, refusal},
};
use async_trait::async_trait;
use jiff::Timestamp;
use juror_types::{
    id::{LeaseId, OwnerId, RunId},
    usage::Money,
};
use std::{sync::atomic::Ordering, time::Duration};
use tokio::sync::watch;

/// Longest cooldown that is taken over from a provider.
const MAX_COOLDOWN: Duration = Duration::from_secs(24 * 60 * 60);

#[async_trait]
impl Admission for RedisLedger {
    async fn open_run_again(
        &self,
        run: &RunId,
        budget: Budget,
        spent: Money,
    ) -> Result<(), LedgerError> {
        let key = Scope::Run(run.clone()).budget_key();
        self.set_budget(key, budget, spent, None).await.map(drop)
    }

    async fn set_limits(&self, endpoint: &str, limits: Limits) -> Result<(), LedgerError> {
        let arguments = [
            endpoint.to_owned(),
            optional_units(limits.requests_per_minute),
            optional_units(limits.tokens_per_minute),
            u8::from(limits.refund_unused).to_string(),
        ];
        self.connection.perform(&scripts::SET_LIMITS, &arguments).await.map(drop)
    }

    async fn try_admit(&self, ask: &Ask) -> Result<AdmissionDecision, LedgerError> {
        let tokens = ask.input_tokens.saturating_add(ask.max_output_tokens).min(MAX_UNITS);
        let _asking = self.begin_to_ask(ask, tokens).await;
        let arguments = [
            ask.lease.to_string(),
            ask.owner.to_string(),
            ask.run.to_string(),
            ask.endpoint.clone(),
            tokens.to_string(),
            amount(ask.worst_cost),
        ];
        let answer = self.connection.perform(&scripts::ADMIT, &arguments).await?;
        let answer: Vec<&str> = answer.iter().map(String::as_str).collect();
        if let ["admitted" | "wait", _, _, ref counting @ ..] = *answer {
            self.counting.keep(&ask.endpoint, counting);
        }
        if let ["admitted", day, labels, ..] = *answer {
            self.connection.presence().holds(&ask.lease, day, labels);
            self.seen_in_use.store(true, Ordering::Relaxed);
            return Ok(AdmissionDecision::Admitted);
        }
        if answer == ["paused"] {
            return Err(LedgerError::Unavailable(format!(
                "Redis at {} is new, or was restarted or emptied, and the ledger in it has not been reconciled since: start the aggregator, which does so",
                self.connection.address()
            )));
        }
        self.connection.presence().ends(&ask.lease);
        let refusal = refusal(ask, &answer).ok_or_else(|| odd_answer("admit a call"))?;
        if matches!(refusal, AdmissionDecision::NoRecord { .. }) {
            // Says that the server was emptied, if that is why.
            self.is_paused().await?;
        }
        Ok(refusal)
    }

    async fn settle(&self, settlement: Settlement) -> Result<Settled, LedgerError> {
        let Settlement { lease, cost, usage, metered, finished, claim } = settlement;
        let finish = finished.map(FinishArguments::of).transpose()?.unwrap_or_default();
        let used = usage.input_tokens.saturating_add(usage.output_tokens).min(MAX_UNITS);
        let arguments = [
            lease.to_string(),
            amount(cost),
            used.to_string(),
            milliseconds(LEASE_TTL),
            claim.run.to_string(),
            claim.job.to_string(),
            claim.round.to_string(),
            claim.fence.to_string(),
            count(usage.input_tokens),
            count(usage.cached_input_tokens),
            count(usage.output_tokens),
            finish.result,
            finish.question,
            finish.reply,
            milliseconds(self.settings.replies_kept),
            u8::from(metered).to_string(),
            finish.usable,
        ];
        let answer = self.connection.perform(&scripts::SETTLE, &arguments).await?;
        self.connection.presence().ends(&lease);
        let settled = || {
            let [may_publish, overrun] = answer.as_slice() else { return None };
            Some(Settled { may_publish: may_publish == "1", overrun: money(overrun)? })
        };
        settled().ok_or_else(|| odd_answer("settle a call"))
    }

    async fn release(&self, lease: &LeaseId) -> Result<(), LedgerError> {
        self.connection.perform(&scripts::RELEASE, &[lease.to_string()]).await?;
        self.connection.presence().ends(lease);
        Ok(())
    }

    async fn presume_spent(&self, lease: &LeaseId) -> Result<(), LedgerError> {
        let arguments = [lease.to_string(), milliseconds(LEASE_TTL)];
        self.connection.perform(&scripts::PRESUME_SPENT, &arguments).await?;
        self.connection.presence().ends(lease);
        Ok(())
    }

    async fn sweep(&self) -> Result<(), LedgerError> {
        let mut arguments = vec![milliseconds(LEASE_TTL), self.seen_in_use()];
        arguments.extend(self.connection.presence().owners().map(OwnerId::to_string));
        let answer = self.connection.perform(&scripts::SWEEP, &arguments).await?;
        if answer.first().is_some_and(|emptied| emptied == "1") {
            let introduction = self.connection.presence().introduction();
            self.connection.perform(&scripts::CHECK_IN, &introduction).await?;
        }
        self.clear_doubts().await
    }

    async fn observe(&self, observation: &Observation) -> Result<(), LedgerError> {
        if self.counting.was_told(observation) {
            return Ok(());
        }
        let refused = observation.refused.map(|pause| milliseconds(pause.min(MAX_COOLDOWN)));
        let arguments = [
            observation.endpoint.clone(),
            optional_units(observation.requests_per_minute),
            optional_units(observation.tokens_per_minute),
            refused.unwrap_or_default(),
            observation.counting.rule.map(CountRule::name).unwrap_or_default().to_owned(),
            optional_units(observation.counting.input_scale),
            optional_units(observation.counting.fullest),
        ];
        self.connection.perform(&scripts::OBSERVE, &arguments).await?;
        self.counting.tell(observation);
        Ok(())
    }

    async fn token_counting(&self, endpoint: &str) -> Result<TokenCounting, LedgerError> {
        let mut command = redis::cmd("HMGET");
        command.arg(self.connection.key(&format!("endpoint:{endpoint}")));
        command.arg(&["count_rule", "input_scale", "fullest"]);
        let told: Vec<Option<String>> = self.connection.command(&command).await?;
        let told: Vec<&str> = told.iter().map(|field| field.as_deref().unwrap_or("")).collect();
        self.counting.keep(endpoint, &told);
        Ok(self.known_token_counting(endpoint))
    }

    fn known_token_counting(&self, endpoint: &str) -> TokenCounting {
        self.counting.known(endpoint)
    }

    async fn ledger(&self, run: &RunId) -> Result<Option<Ledger>, LedgerError> {
        let day = self.calendar().await?.day_of(Timestamp::now().as_millisecond());
        let scopes = [Scope::Run(run.clone()), Scope::of_month(day)];
        let [of_run, of_month] = self
            .accounts(&scopes)
            .await?
            .try_into()
            .map_err(|_| odd_answer("tell what was spent"))?;
        let (budget, account, unattributed_cost) = of_run;
        let (month_budget, month_account, _) = of_month;
        let committed = month_account.committed;
        let month = Some(MonthLedger { day, budget: month_budget, committed });
        let Account { committed, presumed, outstanding, overrun, .. } = account;
        Ok(budget.map(|budget| Ledger {
            budget,
            committed,
            presumed,
            unattributed_cost,
            outstanding,
            overrun,
            month,
        }))
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.changes.clone()
    }
}

impl RedisLedger {
    /// Gives back the leases whose callers gave up before there was an answer: they called nobody.
    async fn clear_doubts(&self) -> Result<(), LedgerError> {
        let _nobody_asks_anew = self.clearing.lock().await;
        let doubtful = self.connection.presence().doubtful();
        for lease in doubtful {
            self.release(&lease).await?;
        }
        Ok(())
    }

    async fn begin_to_ask<'a>(&'a self, ask: &'a Ask, tokens: u64) -> Asking<'a> {
        let doubted = self.connection.presence().doubts(&ask.lease);
        let _cleared = if doubted { Some(self.clearing.lock().await) } else { None };
        self.connection.presence().asks(ask, tokens);
        Asking { connection: &self.connection, lease: &ask.lease }
    }

    /// Flag for scripts that this process has seen the ledger in use.
    pub(super) fn seen_in_use(&self) -> String {
        u8::from(self.seen_in_use.load(Ordering::Relaxed)).to_string()
    }
}

/// A pending request for a lease, until this is dropped.
struct Asking<'a> {
    connection: &'a Connection,
    lease: &'a LeaseId,
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.connection.presence().gives_up(self.lease);
    }
}
