//! Search for a batch whose creation had no answer.

use crate::vision::{BatchError, BatchMark, BatchProvider};
use std::time::Duration;
use tokio::time::sleep;

/// Number of searches before a batch counts as never created: the provider's list may lag.
const SEARCHES: u32 = 3;

/// The id of the batch of this file and mark; none if no search finds it. Searches are `pause`
/// apart.
pub async fn find_lost_batch(
    provider: &dyn BatchProvider,
    file: &str,
    mark: &BatchMark,
    pause: Duration,
) -> Result<Option<String>, BatchError> {
    for _ in 1..SEARCHES {
        if let Some(batch) = provider.find(file, mark).await? {
            return Ok(Some(batch));
        }
        sleep(pause).await;
    }
    provider.find(file, mark).await
}
