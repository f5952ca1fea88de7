//! Search for a batch whose creation had no response.

use crate::vision::{BatchError, BatchProvider};
use std::time::Duration;
use tokio::time::sleep;

/// Number of searches before a batch counts as never created: the provider's list may lag.
const SEARCHES: u32 = 5;

/// The id of the batch of this file; none if no search finds it. The pause between searches doubles,
/// from `pause` on.
pub async fn find_lost_batch(
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
