//! Progress of each job of a fleet's run.

use crate::error::AppError;
use juror_analysis::fold::{Fold, Rounds};
use juror_ledger::redis::RedisLedger;
use juror_types::id::RunId;

/// Progress of each job, by the journal where it is here, and by Redis: the one may lag behind what
/// is stored, or have lost it on the way, the other forgets in time.
pub async fn job_rounds(
    backend: &RedisLedger,
    run: &RunId,
    journal: Option<&Fold>,
) -> Result<Rounds, AppError> {
    let mut rounds = journal.map(Fold::rounds).unwrap_or_default();
    let noting = |job, round, outcome| rounds.note(&job, round, outcome);
    backend.for_each_outcome(run, noting).await.map_err(AppError::from)?;
    Ok(rounds)
}
