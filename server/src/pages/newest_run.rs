//! The newest readable run.

use super::PageError;
use crate::{
    app_state::AppState,
    view::{RunView, ViewError},
};
use juror_app::run_catalog::{ListedRun, RunState};
use juror_types::id::RunId;
use std::sync::Arc;

/// The newest readable run, and newer ones that are damaged.
pub struct NewestRun {
    /// None if there is no such run.
    pub view: Option<Arc<RunView>>,
    /// Newer damaged runs.
    pub damaged: Vec<RunId>,
}

/// The newest readable one of these runs; runs with a report take precedence.
pub async fn newest_of<'a>(
    site: &AppState,
    runs: impl Iterator<Item = &'a ListedRun>,
) -> Result<NewestRun, PageError> {
    let (reported, others): (Vec<_>, Vec<_>) = runs.partition(|run| run.has_report);
    let mut damaged = Vec::new();
    for run in reported.into_iter().chain(others) {
        let id = &run.record.run_id;
        if run.state == RunState::Damaged {
            damaged.push(id.clone());
            continue;
        }
        match site.views.get(id).await {
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
