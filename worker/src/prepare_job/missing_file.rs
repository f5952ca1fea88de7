//! A job whose file this worker lacks: other workers look for it before the job fails.

use super::PreparedJob;
use crate::{interruption::Interruption, result_builder::ResultBuilder, run_context::RunContext};
use juror_types::{job::Job, outcome::JobError};

/// Number of workers that look for a missing file before its job fails.
const MAX_MISSING_FILE_ATTEMPTS: u32 = 3;

/// Ends a job whose files cannot be used, unless other workers may have a missing file and have not
/// looked yet.
pub(super) async fn fail_or_requeue<'job>(
    job: &Job,
    context: &RunContext,
    builder: ResultBuilder,
    mut error: JobError,
) -> Result<PreparedJob<'job>, Interruption> {
    let references = job.item.references().map(str::to_owned).collect();
    if let Some(absence) = context.sources.absence(references).await {
        match context.store.record_missing_file(&builder.claim).await? {
            None => {}
            Some(others) if others < MAX_MISSING_FILE_ATTEMPTS => {
                return Err(Interruption::FileNotHere(absence.to_string()));
            }
            Some(others) => {
                error.message += &format!(" (nor at {others} earlier attempts)");
            }
        }
    }
    Ok(PreparedJob::Finished(builder.failed(error)))
}
