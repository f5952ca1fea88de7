//! Admission for a fleet: the decisions of the state machine, made by scripts in Redis.

use super::{
    LEASE_TTL, RedisLedger,
    connection::Connection,
    encoding::{
        MAX_UNITS, amount, count, lease_arguments, milliseconds, money, optional_units, refusal,
    },
    failure::unexpected_reply,
    job_store::FinishArguments,
    scripts,
};
use crate::{
    admission::{
        Admission, AdmissionDecision, AdmissionRequest, Budget, CountRule, Limits, MonthLedger,
        Observation, RunAccount, Settled, Settlement, TokenCounting,
        headroom::Account,
        scope::{Period, Scope, SharedBudget},
    },
    budgets::BudgetRecords as _,
    error::LedgerError,
};
use async_trait::async_trait;
use jiff::Timestamp;
use juror_types::{
    id::{LeaseId, OwnerId, RunId},
    usage::Money,
};
use std::{sync::atomic::Ordering, time::Duration};
use tokio::sync::watch;

/// Maximum cooldown that is accepted from a provider.
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

    async fn try_admit(
        &self,
        request: &AdmissionRequest,
    ) -> Result<AdmissionDecision, LedgerError> {
        let _asking = self.begin_request(request).await;
        let answer = self.connection.perform(&scripts::ADMIT, &lease_arguments(request)).await?;
        let answer: Vec<&str> = answer.iter().map(String::as_str).collect();
        if let ["admitted" | "wait", _, _, ref counting @ ..] = *answer {
            self.counting.update(&request.endpoint, counting);
        }
        if let ["admitted", day, labels, ..] = *answer {
            self.connection.registration().record_held(&request.lease, day, labels);
            self.seen_in_use.store(true, Ordering::Relaxed);
            return Ok(AdmissionDecision::Admitted);
        }
        if answer == ["suspended"] {
            return Err(LedgerError::Unavailable(format!(
                "Redis at {} was restarted or emptied, or has lost records: calls are suspended until the ledger is reconciled; the aggregator does so, check that one runs",
                self.connection.address()
            )));
        }
        self.connection.registration().remove(&request.lease);
        let refusal = refusal(request, &answer).ok_or_else(|| unexpected_reply("admit a call"))?;
        if matches!(refusal, AdmissionDecision::NoRecord { .. }) {
            // The message mentions an emptied server, if that is the cause.
            self.is_admission_suspended().await?;
        }
        Ok(refusal)
    }

    async fn settle(&self, settlement: Settlement) -> Result<Settled, LedgerError> {
        let Settlement { lease, cost, usage, metered, finished, claim } = settlement;
        let finish = finished.map(FinishArguments::from_job).transpose()?.unwrap_or_default();
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
            finish.cache_key,
            finish.reply,
            milliseconds(self.settings.replies_kept),
            u8::from(metered).to_string(),
            finish.usable,
        ];
        let answer = self.connection.perform(&scripts::SETTLE, &arguments).await?;
        self.connection.registration().remove(&lease);
        let settled = || {
            let [may_publish, overrun] = answer.as_slice() else { return None };
            Some(Settled { may_publish: may_publish == "1", overrun: money(overrun)? })
        };
        settled().ok_or_else(|| unexpected_reply("settle a call"))
    }

    async fn release(&self, lease: &LeaseId) -> Result<(), LedgerError> {
        self.connection.perform(&scripts::RELEASE, &[lease.to_string()]).await?;
        self.connection.registration().remove(lease);
        Ok(())
    }

    async fn presume_spent(&self, lease: &LeaseId) -> Result<(), LedgerError> {
        let arguments = [lease.to_string(), milliseconds(LEASE_TTL)];
        self.connection.perform(&scripts::PRESUME_SPENT, &arguments).await?;
        self.connection.registration().remove(lease);
        Ok(())
    }

    async fn sweep(&self) -> Result<(), LedgerError> {
        let mut arguments = vec![milliseconds(LEASE_TTL), self.seen_in_use()];
        arguments.extend(self.connection.registration().owners().map(OwnerId::to_string));
        let answer = self.connection.perform(&scripts::SWEEP, &arguments).await?;
        if answer.first().is_some_and(|emptied| emptied == "1") {
            let arguments = self.connection.registration().script_arguments();
            self.connection.perform(&scripts::REGISTER, &arguments).await?;
        }
        self.release_unknown().await
    }

    async fn observe(&self, observation: &Observation) -> Result<(), LedgerError> {
        if self.counting.was_reported(observation) {
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
        self.counting.record_reported(observation);
        Ok(())
    }

    async fn token_counting(&self, endpoint: &str) -> Result<TokenCounting, LedgerError> {
        let mut command = redis::cmd("HMGET");
        command.arg(self.connection.key(&format!("endpoint:{endpoint}")));
        command.arg(&["count_rule", "input_scale", "fullest"]);
        let fields: Vec<Option<String>> = self.connection.command(&command).await?;
        let fields: Vec<&str> = fields.iter().map(|field| field.as_deref().unwrap_or("")).collect();
        self.counting.update(endpoint, &fields);
        Ok(self.known_token_counting(endpoint))
    }

    fn known_token_counting(&self, endpoint: &str) -> TokenCounting {
        self.counting.known(endpoint)
    }

    async fn ledger(&self, run: &RunId) -> Result<Option<RunAccount>, LedgerError> {
        let day = self.calendar().await?.day_of(Timestamp::now().as_millisecond());
        let scopes = [Scope::Run(run.clone()), SharedBudget::from(Period::Month).scope(day)];
        let [of_run, of_month] = self
            .accounts(&scopes)
            .await?
            .try_into()
            .map_err(|_| unexpected_reply("read the spending"))?;
        let (month_budget, Account { committed, .. }, _) = of_month;
        let month = MonthLedger { day, budget: month_budget, committed };
        let (budget, account, unattributed_cost) = of_run;
        Ok(budget.map(|budget| RunAccount::new(budget, account, unattributed_cost, month)))
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.changes.clone()
    }
}

impl RedisLedger {
    /// Releases the leases whose callers stopped waiting before the reply: no call was made for
    /// them.
    async fn release_unknown(&self) -> Result<(), LedgerError> {
        let _no_new_requests = self.clearing.lock().await;
        let unknown = self.connection.registration().unknown_leases();
        for lease in unknown {
            self.release(&lease).await?;
        }
        Ok(())
    }

    async fn begin_request<'a>(&'a self, request: &'a AdmissionRequest) -> PendingRequest<'a> {
        let is_unknown = self.connection.registration().is_unknown(&request.lease);
        let _cleared = if is_unknown { Some(self.clearing.lock().await) } else { None };
        self.connection.registration().record_request(request);
        PendingRequest { connection: &self.connection, lease: &request.lease }
    }

    /// Script flag: 1 if this process has seen the ledger in use.
    pub(super) fn seen_in_use(&self) -> String {
        u8::from(self.seen_in_use.load(Ordering::Relaxed)).to_string()
    }
}

/// A pending request for a lease, until this is dropped.
struct PendingRequest<'a> {
    connection: &'a Connection,
    lease: &'a LeaseId,
}

impl Drop for PendingRequest<'_> {
    fn drop(&mut self) {
        self.connection.registration().record_unknown(self.lease);
    }
}
