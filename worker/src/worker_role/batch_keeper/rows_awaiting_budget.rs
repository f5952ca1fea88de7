//! Rows that wait for money.

use crate::{
    batch::{Gathered, PendingRow, RunBatches, admit, gather, give_up_row},
    interruption::Interruption,
};
use juror_types::job::Job;
use std::time::Duration;
use tokio::time::sleep;

/// Interval at which a run that waits for money checks the ledger: another process may have
/// released some.
const MONEY_INTERVAL: Duration = Duration::from_secs(5);

/// Waits until a row of this job is admitted or refused, or batches are waited for no longer. In a
/// fleet, the row is given up instead, so that other runs get their turn.
pub async fn wait(
    mut row: Box<PendingRow>,
    job: &Job,
    work: &RunBatches,
) -> Result<Gathered, Interruption> {
    let mut changes = work.context.admission.changes();
    let drain = &work.context.shutdown.drain;
    loop {
        // Finished batches free reserved money.
        work.seal().await?;
        if work.context.max_wait.is_some() {
            give_up_row(&row.row, work).await?;
            return Err(Interruption::WaitTimeout);
        }
        row = match admit(row, work).await? {
            Gathered::Waiting(row) => row,
            admitted => return Ok(admitted),
        };
        tokio::select! {
            biased;
            () = drain.cancelled() => {
                give_up_row(&row.row, work).await?;
                return Err(Interruption::Stopping);
            }
            () = work.lane.wait_until_over() => {
                give_up_row(&row.row, work).await?;
                return gather(job, work).await;
            }
            // A closed ledger sends no changes; poll by interval only.
            Ok(()) = changes.changed() => {}
            () = sleep(MONEY_INTERVAL) => {}
        }
    }
}
