//! The newest run that can be shown.

use crate::{
    pages::error_page::PageError,
    state::AppState,
    view::{RunView, ViewError},
};
use juror_app::catalog::{ListedRun, RunState};
use juror_types::id::RunId;
use std::sync::Arc;

/// The run that is shown, and newer ones that are damaged.
pub struct NewestRun {
    /// None where no run fits.
    pub view: Option<Arc<RunView>>,
    /// Newer runs that cannot be shown.
    pub damaged: Vec<RunId>,
}

/// The newest of these runs that can be read, one with a report first.
pub async fn newest_of<'a>(
    site: &AppState,
    runs: impl Iterator<Item = &'a ListedRun>,
) -> Result<NewestRun, PageError> {
    let (reported, others): (Vec<_>, Vec<_>) = runs.partition(|run| run.figures.is_some());
    let mut damaged = Vec::new();
    for run in reported.into_iter().chain(others) {
        let id = &run.record.run_id;
        if run.state == RunState::Damaged {
            damaged.push(id.clone());
            continue;
        }
        match site.views.of(id).await {
            Ok(view) => return Ok(NewestRun { view: Some(view), damaged }),
            Err(error @ ViewError::Interrupted) => return Err(error.into()),
            Err(error) => {
                tracing::error!("run {id} cannot be shown: {error}");
                damaged.push(id.clone());
            }
        }
    }
    Ok(NewestRun { view: None, damaged })
}
