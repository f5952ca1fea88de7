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
    mut pause: Duration,
) -> Result<Option<String>, BatchError> {
    for search in 1..=SEARCHES {
        if let Some(batch) = provider.find_up_to(file, 1).await?.pop() {
            return Ok(Some(batch));
        }
        if search < SEARCHES {
            sleep(pause).await;
            pause *= 2;
        }
    }
    if unanswered < MAX_UNANSWERED {
        return Ok(None);
    }
    Err(BatchError::Unsearchable(format!(
        "{unanswered} creations of a batch of file {file} had no answer, and the provider's list \
         has none"
    )))
}

/// Lease of the second creation of a file's batch. A crash must not hold its money twice, so the id is
/// made of the file, which has one shard.
pub fn second_lease(run: &RunId, file: &str) -> LeaseId {
    LeaseId::new(format!("{run}-second-{file}"))
}

/// True if the provider's list has this batch of a file and no other one: such a list would have an
/// earlier one too. A search that fails is repeated as one that finds none.
pub async fn is_listed_alone(
    provider: &dyn BatchProvider,
    file: &str,
    batch: &str,
    mut pause: Duration,
) -> bool {
    for search in 1..=SEARCHES {
        match provider.find_up_to(file, 2).await {
            Ok(found) if found.is_empty() => {}
            Ok(found) => return found == [batch],
            Err(error) => tracing::warn!(%error, file, batch, "a batch was not looked for"),
        }
        if search < SEARCHES {
            sleep(pause).await;
            pause *= 2;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vision::openai::tests::client;
    use juror_services::web::{WebResponse, WebServer};
    use serde_json::{Value, json};

    /// True if `batch-2` of `file-1` is listed alone in these answers, of which the last one repeats.
    async fn is_alone_in(answers: &[Value]) -> bool {
        let answers = answers.to_vec();
        let mut next = 0;
        let server = WebServer::start(move |_| {
            let answer = answers.get(next).or(answers.last()).unwrap();
            next += 1;
            WebResponse::file(answer.to_string().as_bytes())
        });
        let provider = client(&format!("http://{}/v1", server.address()));
        is_listed_alone(&provider, "file-1", "batch-2", Duration::ZERO).await
    }

    #[tokio::test]
    async fn batch_is_alone_only_in_a_complete_list_without_another_of_its_file() {
        let batch = |id: u32, file: u32| json!({"id": format!("batch-{id}"), "input_file_id": format!("file-{file}")});
        let (first, second, other) = (batch(1, 1), batch(2, 1), batch(3, 2));
        let mut over_limit = batch(4, 1);
        over_limit["status"] = json!("failed");
        over_limit["errors"] = json!({"data": [{"code": "token_limit_exceeded"}]});
        let mut unpaid = over_limit.clone();
        unpaid["errors"] = json!({"data": [{"code": "billing_hard_limit_reached"}]});
        let broken = json!({"object": "list"});
        let alone = json!({"data": [other, second]});
        let followed = json!({"data": [second], "has_more": true});
        for (answers, expected) in [
            (vec![alone.clone()], true),
            (vec![json!({"data": [second, over_limit]})], true),
            (vec![json!({"data": [over_limit]})], false),
            (vec![json!({"data": [unpaid, second]})], true),
            (vec![json!({"data": []}), broken.clone(), alone.clone()], true),
            (vec![followed.clone(), json!({"data": [other]})], true),
            (vec![followed, json!({"data": [first]})], false),
            (vec![json!({"data": [second, first]})], false),
            (vec![json!({"data": [first]}), alone], false),
            (vec![broken], false),
        ] {
            assert_eq!(is_alone_in(&answers).await, expected, "{answers:?}");
        }
    }
}
