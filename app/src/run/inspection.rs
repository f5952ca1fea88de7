//! Findings of `--dry-run` and `juror doctor` in the files of the items that would be judged.

use super::run_setup::RunSetup;
use crate::{error::AppError, worker_resources::sources};
use futures_util::future::BoxFuture;
use futures_util::{StreamExt as _, stream};
use juror_producer::plan;
use juror_worker::file_check::inspect;

/// Maximum number of items that are named with their problem.
const MAX_LISTED: usize = 20;

/// Number of items whose files are read concurrently.
const CONCURRENT_ITEMS: usize = 8;

/// Reads the files of every selected item and returns those whose jobs would fail, each with its
/// line.
///
/// # Errors
/// [`AppError::Invalid`] with the list, or if the dataset has changed meanwhile.
pub fn inspect_files(setup: &RunSetup) -> BoxFuture<'_, Result<(), AppError>> {
    Box::pin(async move {
        let sources = sources(&setup.settings, &setup.environment, setup.data_roots())?;
        let items =
            plan::selected_items(&setup.dataset, &setup.options).map_err(AppError::invalid)?;
        let inspecting = stream::iter(items).map(|placed| {
            let sources = &sources;
            async move {
                let placed = placed.map_err(|error| error.to_string())?;
                let problem = inspect(&placed.item, sources).await.err();
                problem
                    .map_or(Ok(()), |problem| Err(format!("{}: {}", placed.place, problem.message)))
            }
        });
        let mut inspected = inspecting.buffered(CONCURRENT_ITEMS);
        let (mut count, mut listed) = (0_usize, String::new());
        while let Some(found) = inspected.next().await {
            let Err(problem) = found else { continue };
            count += 1;
            if count <= MAX_LISTED {
                listed.push_str("\n  ");
                listed.push_str(&problem);
            }
        }
        if count == 0 {
            return Ok(());
        }
        if count > MAX_LISTED {
            listed.push_str(&format!("\n  and {} more", count - MAX_LISTED));
        }
        let items = setup.plan.items;
        Err(AppError::invalid(format!("{count} of {items} items would fail:{listed}")))
    })
}
