//! State that every page and every answer of the API is made of.

use crate::{comparisons::Comparisons, live::LiveRuns, view::Views};
use juror_analysis::comparison::Rules;
use juror_app::{
    catalog::Catalog, items::ItemSource, service::RunLauncher, work_limiter::WorkLimiter,
};
use std::{path::PathBuf, sync::Arc};
use tokio_util::sync::CancellationToken;

/// Thumbnails that are made at once, each of which takes one processor, and requests that wait.
const MAX_THUMBNAILS: usize = 2;
const MAX_WAITING_THUMBNAILS: usize = 256;

/// Shared by all requests; clones share it.
#[derive(Clone)]
pub struct AppState {
    /// Catalog of the runs.
    pub catalog: Arc<Catalog>,
    /// Their results.
    pub views: Arc<Views>,
    /// Progress of those that go on.
    pub live: Arc<LiveRuns>,
    /// Their comparisons.
    pub comparisons: Arc<Comparisons>,
    /// Opens what runs judged.
    pub item_source: Arc<dyn ItemSource>,
    /// Begins runs.
    pub starter: Arc<dyn RunLauncher>,
    /// Limits how many thumbnails are made at once.
    pub thumbnails: Arc<WorkLimiter>,
    /// Rules of a comparison unless the request says otherwise.
    pub rules: Rules,
}

impl AppState {
    /// Of the runs in this directory; whatever goes on by itself ends when `stop` is cancelled. The
    /// rules also say how failed jobs enter averages. A blessed run is old after so many days; 0
    /// for never.
    pub fn new(
        runs_dir: PathBuf,
        item_source: Arc<dyn ItemSource>,
        starter: Arc<dyn RunLauncher>,
        rules: Rules,
        max_baseline_age_days: u32,
        stop: CancellationToken,
    ) -> Self {
        let comparisons = Arc::new(Comparisons::new(&runs_dir, max_baseline_age_days));
        let catalog = Arc::new(Catalog::new(runs_dir));
        let views =
            Arc::new(Views::new(Arc::clone(&catalog), Arc::clone(&item_source), rules.averaging));
        let live = Arc::new(LiveRuns::new(Arc::clone(&catalog), Arc::clone(&item_source), stop));
        Self {
            catalog,
            views,
            live,
            comparisons,
            item_source,
            starter,
            thumbnails: Arc::new(WorkLimiter::new(MAX_THUMBNAILS, MAX_WAITING_THUMBNAILS)),
            rules,
        }
    }
}
