//! Progress of each job of a fleet's run.

use crate::error::AppError;
use juror_analysis::fold::{Fold, Rounds};
use juror_ledger::redis::RedisLedger;
use juror_types::id::RunId;

/// Progress of each job, from the journal if it is on this machine and from Redis: the journal may
/// lag behind or have lost results, and results in Redis expire.
pub async fn job_rounds(
    backend: &RedisLedger,
    run: &RunId,
    journal: Option<&Fold>,
) -> Result<Rounds, AppError> {
    let mut rounds = journal.map(Fold::rounds).unwrap_or_default();
    let record = |job, round, outcome| rounds.note(&job, round, outcome);
    backend.for_each_outcome(run, record).await?;
    Ok(rounds)
}
