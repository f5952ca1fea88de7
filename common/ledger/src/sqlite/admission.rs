//! Admission on one machine: the state machine over the records in `juror.db`.

use super::{
    SqliteLedger,
    claim_records::{self as claims, PreparedFinish},
};
use crate::{
    admission::{
        Admission, AdmissionDecision, AdmissionRequest, Budget, Limits, Observation, RunAccount,
        Settled, Settlement, records::LedgerRecords as _, state_machine,
    },
    error::LedgerError,
};
use async_trait::async_trait;
use juror_types::{
    id::{LeaseId, OwnerId, RunId},
    usage::Money,
};
use tokio::sync::watch;

#[async_trait]
impl Admission for SqliteLedger {
    async fn open_run_again(
        &self,
        run: &RunId,
        budget: Budget,
        spent: Money,
    ) -> Result<(), LedgerError> {
        let run = run.clone();
        self.writer
            .perform_durably(move |connection, memory| {
                memory.mark_changed();
                // Here too: short-lived processes end before their first heartbeat.
                memory.delete_ended_leases(connection)?;
                let (mut records, _, now) = memory.parts(connection);
                state_machine::open_run(&mut records, &run, budget)?;
                let costs = (spent, claims::unattributed_cost_of(connection, &run)?);
                state_machine::book_journal(&mut records, &run, costs, now)
            })
            .await
    }

    async fn set_limits(&self, endpoint: &str, limits: Limits) -> Result<(), LedgerError> {
        let endpoint = endpoint.to_owned();
        self.writer
            .perform(move |_, memory| {
                let now = memory.now();
                memory.limiter.set_limits(&endpoint, limits, now);
                memory.mark_changed();
                Ok(())
            })
            .await
    }

    async fn try_admit(
        &self,
        request: &AdmissionRequest,
    ) -> Result<AdmissionDecision, LedgerError> {
        let request = request.clone();
        self.writer
            .perform(move |connection, memory| {
                let is_new_owner = memory.owners.insert(request.owner.clone());
                let (mut records, limiter, now) = memory.parts(connection);
                if is_new_owner {
                    records.record_heartbeat(&request.owner, now)?;
                }
                state_machine::admit(&mut records, limiter, &request, now)
            })
            .await
    }

    async fn settle(&self, mut settlement: Settlement) -> Result<Settled, LedgerError> {
        let finish = settlement.finished.take().map(PreparedFinish::new).transpose()?;
        self.writer
            .perform_durably(move |connection, memory| {
                let holds = claims::holds(connection, &settlement.claim)?;
                let (mut records, limiter, now) = memory.parts(connection);
                let booked = state_machine::settle(&mut records, limiter, &settlement, holds, now)?;
                match &finish {
                    // Also for a booked bill: the first settlement may have left its cost on the
                    // claim, without a result.
                    Some(finish) => claims::finish(connection, finish, now)?,
                    None if booked.first && holds => claims::carry(connection, &settlement)?,
                    None => {}
                }
                if booked.first {
                    memory.mark_changed();
                }
                Ok(Settled { may_publish: holds, overrun: booked.overrun })
            })
            .await
    }

    async fn release(&self, lease: &LeaseId) -> Result<(), LedgerError> {
        let lease = lease.clone();
        self.writer
            .perform(move |connection, memory| {
                memory.mark_changed();
                let (mut records, limiter, now) = memory.parts(connection);
                state_machine::release(&mut records, limiter, &lease, now)
            })
            .await
    }

    async fn presume_spent(&self, lease: &LeaseId) -> Result<(), LedgerError> {
        let lease = lease.clone();
        self.writer
            .perform_durably(move |connection, memory| {
                memory.mark_changed();
                state_machine::presume_spent(&mut memory.records(connection), &lease)
            })
            .await
    }

    async fn sweep(&self) -> Result<(), LedgerError> {
        self.writer.perform(|connection, memory| memory.send_heartbeats_and_sweep(connection)).await
    }

    async fn observe(&self, observation: &Observation) -> Result<(), LedgerError> {
        let Observation { endpoint, refused, counting, .. } = observation;
        let limits = (observation.requests_per_minute, observation.tokens_per_minute);
        // Every reply reports its limits: the writer is used only for changed ones.
        if refused.is_none()
            && counting.rule.is_none()
            && self.reported.lock().get(endpoint) == Some(&limits)
        {
            return Ok(());
        }
        let news = observation.clone();
        self.writer
            .perform(move |_, memory| {
                let now = memory.now();
                if memory.limiter.observe(&news, now) {
                    memory.mark_changed();
                }
                Ok(())
            })
            .await?;
        self.reported.lock().insert(endpoint.clone(), limits);
        Ok(())
    }

    async fn ledger(&self, run: &RunId) -> Result<Option<RunAccount>, LedgerError> {
        let run = run.clone();
        self.writer
            .perform(move |connection, memory| {
                let (records, now) = (memory.records(connection), memory.now());
                let ledger = state_machine::ledger(&records, &run, now)?;
                let unattributed_cost = claims::unattributed_cost_of(connection, &run)?;
                Ok(ledger.map(|ledger| RunAccount { unattributed_cost, ..ledger }))
            })
            .await
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.changes.clone()
    }
}

/// Operations of the command line beyond the trait.
impl SqliteLedger {
    /// Presumes spent the leases of earlier owners of a run; returns their number. Only for the
    /// holder of the lock on the run directory, which proves that those owners are dead.
    pub async fn adopt(&self, run: &RunId, owner: &OwnerId) -> Result<usize, LedgerError> {
        let (run, owner) = (run.clone(), owner.clone());
        self.writer
            .perform_durably(move |connection, memory| {
                memory.mark_changed();
                state_machine::adopt(&mut memory.records(connection), &run, &owner)
            })
            .await
    }
}
