//! Admission for a fleet: the same decisions as the state machine's, made by scripts in Redis.

use super::{
    Admission, AdmissionError, Ask, Budget, CountRule, Decision, Ledger, Limits, Observation,
    Period, Settled, Settlement,
    budgets::{Account, Scope},
    redis_records::{
        MOST_UNITS, account_of, amount, budget_of, count, milliseconds, money, optional_units,
        refusal,
    },
};
use crate::{
    id::{LeaseId, OwnerId, RunId},
    redis::{LEASE_KEPT, RedisHome, connection::Connection, failure::odd_answer, scripts},
    store::redis::FinishArguments,
    usage::Money,
};
use async_trait::async_trait;
use std::{sync::atomic::Ordering, time::Duration};
use tokio::sync::watch;

/// Nobody is asked to wait longer than this.
const LONGEST_COOLDOWN: Duration = Duration::from_secs(24 * 60 * 60);

/// How far a reconciliation came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reconciliation {
    /// Admission goes on.
    Done {
        /// How many leases of owners that are gone were presumed spent.
        presumed: u64,
    },
    /// These owners may still live and have not said what they hold: reconcile again in a second.
    /// After four heartbeats (60 s) they count as gone.
    Waiting {
        /// Who is waited for.
        owners: Vec<OwnerId>,
    },
}

/// Costs that journals report to the ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalCosts {
    /// Cost of the results of each announced run.
    pub announced: Vec<(RunId, Money)>,
    /// Cost of the results of other runs. It counts on no day and no month until such a run is
    /// opened again.
    pub others: Vec<(RunId, Money)>,
    /// Whether the fleet is new: no process holds anything that the ledger does not tell.
    pub is_new: bool,
}

/// State of a ledger on its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LedgerState {
    /// It was reconciled with the server: calls are admitted.
    Reconciled,
    /// The server was started anew with what it had stored.
    Restarted,
    /// The server has no ledger: it is new, or was emptied.
    Empty,
}

#[async_trait]
impl Admission for RedisHome {
    async fn open_run(&self, run: &RunId, budget: Budget) -> Result<(), AdmissionError> {
        self.open_run_again(run, budget, Money::ZERO).await
    }

    async fn set_limits(&self, endpoint: &str, limits: Limits) -> Result<(), AdmissionError> {
        let arguments = [
            endpoint.to_owned(),
            optional_units(limits.requests_per_minute),
            optional_units(limits.tokens_per_minute),
            u8::from(limits.refund_unused).to_string(),
        ];
        self.connection.perform(&scripts::SET_LIMITS, &arguments).await.map(drop)
    }

    async fn try_admit(&self, ask: &Ask) -> Result<Decision, AdmissionError> {
        let tokens = ask.input_tokens.saturating_add(ask.max_output_tokens).min(MOST_UNITS);
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
        if let ["admitted", day] = *answer {
            self.connection.presence().holds(&ask.lease, day.to_owned());
            self.seen_in_use.store(true, Ordering::Relaxed);
            return Ok(Decision::Admitted);
        }
        if answer == ["paused"] {
            return Err(AdmissionError::Unavailable(format!(
                "Redis at {} is new, or was restarted or emptied, and the ledger in it has not been reconciled since: start the aggregator, which does so",
                self.connection.address()
            )));
        }
        self.connection.presence().ends(&ask.lease);
        let refusal = refusal(ask, &answer).ok_or_else(|| odd_answer("admit a call"))?;
        if matches!(refusal, Decision::NoRecord { .. }) {
            // Says that the server was emptied, if that is why.
            self.is_paused().await?;
        }
        Ok(refusal)
    }

    async fn settle(&self, settlement: Settlement) -> Result<Settled, AdmissionError> {
        let Settlement { lease, cost, usage, metered, finished, claim } = settlement;
        let finish = finished.map(FinishArguments::of).transpose()?.unwrap_or_default();
        let used = usage.input_tokens.saturating_add(usage.output_tokens).min(MOST_UNITS);
        let arguments = [
            lease.to_string(),
            amount(cost),
            used.to_string(),
            milliseconds(LEASE_KEPT),
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

    async fn release(&self, lease: &LeaseId) -> Result<(), AdmissionError> {
        self.connection.perform(&scripts::RELEASE, &[lease.to_string()]).await?;
        self.connection.presence().ends(lease);
        Ok(())
    }

    async fn presume_spent(&self, lease: &LeaseId) -> Result<(), AdmissionError> {
        let arguments = [lease.to_string(), milliseconds(LEASE_KEPT)];
        self.connection.perform(&scripts::PRESUME_SPENT, &arguments).await?;
        self.connection.presence().ends(lease);
        Ok(())
    }

    async fn sweep(&self) -> Result<(), AdmissionError> {
        let mut arguments = vec![milliseconds(LEASE_KEPT), self.seen_in_use()];
        arguments.extend(self.connection.presence().owners().map(OwnerId::to_string));
        let answer = self.connection.perform(&scripts::SWEEP, &arguments).await?;
        if answer.first().is_some_and(|emptied| emptied == "1") {
            let introduction = self.connection.presence().introduction();
            self.connection.perform(&scripts::CHECK_IN, &introduction).await?;
        }
        self.clear_doubts().await
    }

    async fn observe(&self, observation: &Observation) -> Result<(), AdmissionError> {
        let refused = observation.refused.map(|pause| milliseconds(pause.min(LONGEST_COOLDOWN)));
        let arguments = [
            observation.endpoint.clone(),
            optional_units(observation.requests_per_minute),
            optional_units(observation.tokens_per_minute),
            refused.unwrap_or_default(),
            observation.count_rule.map(CountRule::name).unwrap_or_default().to_owned(),
        ];
        self.connection.perform(&scripts::OBSERVE, &arguments).await.map(drop)
    }

    async fn count_rule(&self, endpoint: &str) -> Result<Option<CountRule>, AdmissionError> {
        let mut command = redis::cmd("HGET");
        command.arg(self.connection.key(&format!("endpoint:{endpoint}"))).arg("count_rule");
        let name: Option<String> = self.connection.command(&command).await?;
        Ok(name.and_then(|name| CountRule::from_name(&name)))
    }

    async fn ledger(&self, run: &RunId) -> Result<Option<Ledger>, AdmissionError> {
        let (budget, account, carried) = self.spent(&Scope::Run(run.clone())).await?;
        let Account { committed, presumed, outstanding, overrun, .. } = account;
        Ok(budget.map(|budget| Ledger {
            budget,
            committed,
            presumed,
            carried,
            outstanding,
            overrun,
        }))
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.changes.clone()
    }
}

/// What the roles of a fleet need beyond the seam.
impl RedisHome {
    /// As [`Admission::open_run`], for a run whose results have cost so much already by its journal:
    /// what the ledger has forgotten of that is booked in the same step, also on the current day and
    /// month.
    pub async fn open_run_again(
        &self,
        run: &RunId,
        budget: Budget,
        spent: Money,
    ) -> Result<(), AdmissionError> {
        self.set_budget(Scope::Run(run.clone()).budget_key(), budget, spent).await
    }

    /// Sets what each day or each month may cost, over all runs. Without a record, both are written
    /// down as unlimited when a run is opened.
    pub async fn set_period_budget(
        &self,
        period: Period,
        budget: Budget,
    ) -> Result<(), AdmissionError> {
        self.set_budget(period.budget_key().to_owned(), budget, Money::ZERO).await
    }

    /// What each day or each month may cost; none if there is no record.
    pub async fn period_budget(&self, period: Period) -> Result<Option<Budget>, AdmissionError> {
        let key = period.budget_key().to_owned();
        let answer = self.connection.perform(&scripts::LEDGER, &[key.clone(), key]).await?;
        let budget = answer.first().and_then(|text| budget_of(text));
        budget.ok_or_else(|| odd_answer("tell a budget"))
    }

    /// Whether admission pauses: Redis was started anew, or emptied, since the ledger was last
    /// reconciled. A server on which nobody has opened a run yet does not.
    pub async fn is_paused(&self) -> Result<bool, AdmissionError> {
        self.pause_and_use().await.map(|(paused, _)| paused)
    }

    /// State of the ledger on the server. `used_before`: the caller knows that the fleet's ledger
    /// was in use before, so that an empty server was emptied.
    pub async fn ledger_state(&self, used_before: bool) -> Result<LedgerState, AdmissionError> {
        if used_before {
            self.seen_in_use.store(true, Ordering::Relaxed);
        }
        Ok(match self.pause_and_use().await? {
            (false, true) => LedgerState::Reconciled,
            (true, true) => LedgerState::Restarted,
            (_, false) => LedgerState::Empty,
        })
    }

    async fn pause_and_use(&self) -> Result<(bool, bool), AdmissionError> {
        let answer = self.connection.perform(&scripts::IS_PAUSED, &[self.seen_in_use()]).await?;
        let [paused, in_use] = answer.as_slice() else {
            return Err(odd_answer("tell whether admission pauses"));
        };
        if in_use == "1" {
            self.seen_in_use.store(true, Ordering::Relaxed);
        }
        Ok((paused == "1", in_use == "1"))
    }

    /// Amount that the ledger counts as spent or held by a run, whether or not it has a budget on record.
    pub async fn counted(&self, run: &RunId) -> Result<Money, AdmissionError> {
        let (_, account, _) = self.spent(&Scope::Run(run.clone())).await?;
        Ok(account.committed + account.outstanding)
    }

    /// Presumes spent what the leases of a complete run still hold: each of its jobs has its result,
    /// so the answers of those calls are lost. A bill that still comes replaces its presumption.
    /// Returns the number of leases.
    pub async fn close_leases(&self, run: &RunId) -> Result<usize, AdmissionError> {
        let arguments = [run.to_string(), milliseconds(LEASE_KEPT)];
        let answer = self.connection.perform(&scripts::CLOSE_LEASES, &arguments).await?;
        let closed = answer.first().and_then(|count| count.parse().ok());
        closed.ok_or_else(|| odd_answer("close the leases of a run"))
    }

    /// Whether the ledger has an account of a run.
    pub async fn has_account(&self, run: &RunId) -> Result<bool, AdmissionError> {
        let key = self.connection.key(&format!("account:run:{run}"));
        self.connection.command(redis::cmd("EXISTS").arg(key)).await
    }

    /// Ends the pause after a restart or an emptying of Redis, and of a new one. Takes what the
    /// results of runs cost by their journals, and books what the ledger has forgotten of that, for
    /// announced runs also on the current day and month. Every living process says by itself what it
    /// holds as soon as it reaches the new server.
    pub async fn reconcile(
        &self,
        journal: &JournalCosts,
    ) -> Result<Reconciliation, AdmissionError> {
        let is_new = u8::from(journal.is_new).to_string();
        let mut arguments = vec![milliseconds(LEASE_KEPT), is_new];
        for (runs, is_open) in [(&journal.announced, "1"), (&journal.others, "0")] {
            for (run, cost) in runs {
                arguments.extend([run.to_string(), amount(*cost), is_open.to_owned()]);
            }
        }
        let answer = self.connection.perform(&scripts::RECONCILE, &arguments).await?;
        match answer.split_first() {
            Some((word, owners)) if word == "waiting" => {
                let owners = owners.iter().map(OwnerId::new).collect();
                Ok(Reconciliation::Waiting { owners })
            }
            Some((_, rest)) => {
                let presumed = rest.first().and_then(|number| number.parse().ok());
                let presumed = presumed.ok_or_else(|| odd_answer("reconcile the ledger"))?;
                Ok(Reconciliation::Done { presumed })
            }
            None => Err(odd_answer("reconcile the ledger")),
        }
    }

    /// What is on record of a scope, and what its unfinished jobs carry.
    pub(crate) async fn spent(
        &self,
        scope: &Scope,
    ) -> Result<(Option<Budget>, Account, Money), AdmissionError> {
        let arguments = [scope.budget_key(), scope.account_key()];
        let answer = self.connection.perform(&scripts::LEDGER, &arguments).await?;
        let answer: Vec<&str> = answer.iter().map(String::as_str).collect();
        let read = || {
            let (budget, figures) = answer.split_first()?;
            let (carried, figures) = figures.split_last()?;
            Some((budget_of(budget)?, account_of(figures)?, money(carried)?))
        };
        read().ok_or_else(|| odd_answer("tell what was spent"))
    }

    /// Gives back the leases whose callers gave up before there was an answer: they called nobody.
    async fn clear_doubts(&self) -> Result<(), AdmissionError> {
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

    fn seen_in_use(&self) -> String {
        u8::from(self.seen_in_use.load(Ordering::Relaxed)).to_string()
    }

    async fn set_budget(
        &self,
        key: String,
        budget: Budget,
        spent: Money,
    ) -> Result<(), AdmissionError> {
        let budget = match budget {
            Budget::Unlimited => "unlimited".to_owned(),
            Budget::Cap(cap) => {
                if !self.settings.allow_volatile {
                    self.require_durable().await?;
                }
                amount(cap)
            }
        };
        let arguments = [key, budget, amount(spent)];
        self.connection.perform(&scripts::SET_BUDGET, &arguments).await.map(drop)
    }
}

/// Somebody asks for a lease until this is dropped.
struct Asking<'a> {
    connection: &'a Connection,
    lease: &'a LeaseId,
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.connection.presence().gives_up(self.lease);
    }
}
