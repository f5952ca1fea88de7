//! Money of a second creation of a batch, while the first has no answer: both may run.

use super::ShardLifecycle;
use crate::{
    batch::{
        RunBatches,
        lost_batch::{is_listed_alone, second_lease},
        row::open_bounds,
    },
    interruption::WorkerError,
};
use futures_util::{TryStreamExt as _, future::ready};
use juror_ledger::{admission::AdmissionDecision, batches::ShardStep};
use juror_types::usage::Money;

impl ShardLifecycle {
    /// Holds the maximum cost of the shard's rows once more.
    ///
    /// # Errors
    /// [`Interruption::Paused`] if a budget does not cover it.
    pub(super) async fn hold_again(&self, file: &str) -> Result<(), WorkerError> {
        let RunBatches { context, lane, run, .. } = &*self.work;
        let rows = open_bounds(&*lane.records, run, self.number);
        let worst_cost = rows.try_fold(Money::ZERO, |sum, row| ready(Ok(sum + row.worst_cost)));
        let setup = context.judge_of_batches()?;
        let ask = setup.row_admission(run, second_lease(run, file), worst_cost.await?);
        let reason = match context.admission.try_admit(&ask).await? {
            AdmissionDecision::Admitted => return Ok(()),
            AdmissionDecision::Wait { .. } => "its money is held by calls in flight".to_owned(),
            AdmissionDecision::NoBudget { reason } | AdmissionDecision::NoRecord { reason } => {
                reason
            }
        };
        context.admission.release(&ask.lease).await?;
        Err(self.pausing_unknown(&format!(
            "the creation of a batch of file {file} had no answer, the provider's list has none, \
             and the budget does not cover a second one ({reason}; a larger --budget-usd allows it)"
        )))
    }

    /// Releases what is held for a second creation that had an answer and created nothing: the
    /// rows' own money is for the first one.
    pub(super) async fn release_unused_hold(&self, file: &str) -> Result<(), WorkerError> {
        if self.unanswered <= 1 {
            let second = second_lease(&self.work.run, file);
            self.work.context.admission.release(&second).await?;
        }
        Ok(())
    }

    /// Counts as spent what a shard at this step still holds for a second creation, as after a crash.
    pub(super) async fn presume_second_hold(&self, step: &ShardStep) -> Result<(), WorkerError> {
        if let ShardStep::Creating { file, .. }
        | ShardStep::Created { file, .. }
        | ShardStep::Ended { file, .. } = step
        {
            let second = second_lease(&self.work.run, file);
            self.work.context.admission.presume_spent(&second).await?;
        }
        Ok(())
    }

    /// Releases what is held for the second creation, which made this batch, if the provider's list
    /// has that alone: such a list would have the first one too.
    pub(super) async fn release_if_listed(
        &self,
        file: &str,
        batch: &str,
    ) -> Result<(), WorkerError> {
        let RunBatches { context, lane, run, .. } = &*self.work;
        if is_listed_alone(&*lane.provider, file, batch, lane.poll_min).await {
            context.admission.release(&second_lease(run, file)).await?;
        }
        Ok(())
    }
}
