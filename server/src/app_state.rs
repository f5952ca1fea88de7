//! Shared state of the API and the pages.

use crate::{comparisons::Comparisons, live::LiveRuns, view::Views};
use juror_analysis::comparison::Rules;
use juror_app::{
    item_source::ItemSource,
    run_catalog::{ListedRun, RunCatalog, RunListing, RunState},
    service::RunLauncher,
    work_limiter::WorkLimiter,
};
use juror_types::id::RunId;
use std::{io, path::PathBuf, sync::Arc};
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

/// Maximum number of concurrently rendered thumbnails, each of which takes a processor, and of
/// waiting requests.
const MAX_THUMBNAILS: usize = 2;
const MAX_WAITING_THUMBNAILS: usize = 256;

/// State of the server, shared by clones.
#[derive(Clone)]
pub struct AppState {
    pub(crate) catalog: Arc<RunCatalog>,
    /// Cache of run views.
    pub(crate) views: Arc<Views>,
    /// Live progress of runs.
    pub(crate) live: Arc<LiveRuns>,
    pub(crate) comparisons: Arc<Comparisons>,
    /// Source of items and judged files.
    pub(crate) item_source: Arc<dyn ItemSource>,
    pub(crate) launcher: Arc<dyn RunLauncher>,
    pub(crate) thumbnails: Arc<WorkLimiter>,
    /// Default rules of comparisons.
    pub(crate) rules: Rules,
}

impl AppState {
    /// All runs, including those whose record cannot be read.
    pub async fn listing(&self) -> io::Result<RunListing> {
        let catalog = Arc::clone(&self.catalog);
        spawn_blocking(move || catalog.scan()).await?
    }

    /// All runs whose record can be read, newest first.
    pub async fn runs(&self) -> io::Result<Vec<ListedRun>> {
        Ok(self.listing().await?.runs)
    }

    /// True if a running run is being cancelled and finishes its calls in flight.
    pub fn is_cancelling(&self, state: RunState, run: &RunId) -> bool {
        state == RunState::Running && self.launcher.is_cancelling(run)
    }

    /// State over a runs directory; its background tasks end when `stop` is cancelled. `rules` also
    /// set the averaging. `max_baseline_age_days` are the days after which a blessed run is old; 0
    /// for never.
    pub fn new(
        runs_dir: PathBuf,
        item_source: Arc<dyn ItemSource>,
        launcher: Arc<dyn RunLauncher>,
        rules: Rules,
        max_baseline_age_days: u32,
        stop: CancellationToken,
    ) -> Self {
        let comparisons = Arc::new(Comparisons::new(&runs_dir, max_baseline_age_days));
        let catalog = Arc::new(RunCatalog::new(runs_dir));
        let views =
            Arc::new(Views::new(Arc::clone(&catalog), Arc::clone(&item_source), rules.averaging));
        let live = Arc::new(LiveRuns::new(Arc::clone(&catalog), Arc::clone(&item_source), stop));
        Self {
            catalog,
            views,
            live,
            comparisons,
            item_source,
            launcher,
            thumbnails: Arc::new(WorkLimiter::new(MAX_THUMBNAILS, MAX_WAITING_THUMBNAILS)),
            rules,
        }
    }
}
