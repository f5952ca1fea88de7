//! Search for a batch whose creation had no response.

use crate::vision::{BatchError, BatchProvider};
use juror_types::id::{LeaseId, RunId};
use std::time::Duration;
use tokio::time::sleep;

/// Number of searches before a batch counts as never created: the provider's list may lag.
const SEARCHES: u32 = 5;

/// Maximum number of creations without an answer: each may be a batch that no list shows.
const MAX_UNANSWERED: u32 = 2;

/// The id of the batch of this file; none if no search finds it. The pause between searches doubles,
/// from `pause` on.
///
/// # Errors
/// [`BatchError::Unsearchable`] if no search finds it after two or more creations without an answer:
/// the provider's list may leave batches out.
pub async fn find_lost_batch(
    provider: &dyn BatchProvider,
    file: &str,
    unanswered: u32,
    pause: Duration,
) -> Result<Option<String>, BatchError> {
    let found = find_by_searches(provider, file, pause).await?;
    if found.is_none() && unanswered >= MAX_UNANSWERED {
        return Err(BatchError::Unsearchable(format!(
            "{unanswered} creations of a batch of file {file} had no answer, and the provider's \
             list has none"
        )));
    }
    Ok(found)
}

/// Lease of the second creation of a file's batch. A crash must not hold its money twice, so the id is
/// made of the file, which has one shard.
pub fn second_lease(run: &RunId, file: &str) -> LeaseId {
    LeaseId::new(format!("{run}-second-{file}"))
}

async fn find_by_searches(
    provider: &dyn BatchProvider,
    file: &str,
    mut pause: Duration,
) -> Result<Option<String>, BatchError> {
    for _ in 1..SEARCHES {
        if let Some(batch) = provider.find(file).await? {
            return Ok(Some(batch));
        }
        sleep(pause).await;
        pause *= 2;
    }
    provider.find(file).await
}
