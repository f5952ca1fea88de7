//! Grouping of results by their items.

use juror_journal::journal::JournalError;
use juror_types::outcome::JobResult;

/// The results of each item, all its repeats together, from results sorted by item.
pub(crate) fn results_by_item(
    results: impl Iterator<Item = Result<JobResult, JournalError>>,
) -> impl Iterator<Item = Result<Vec<JobResult>, JournalError>> {
    let mut results = results.peekable();
    std::iter::from_fn(move || {
        let mut item: Vec<JobResult> = Vec::new();
        while let Some(next) = results.next_if(|next| match (next, item.first()) {
            (Ok(next), Some(first)) => next.screenshot_id == first.screenshot_id,
            _ => true,
        }) {
            match next {
                Ok(result) => item.push(result),
                Err(error) => return Some(Err(error)),
            }
        }
        (!item.is_empty()).then_some(Ok(item))
    })
}
