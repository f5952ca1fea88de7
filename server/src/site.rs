//! What every page and every answer of the API is made of.

use crate::{
    catalog::Catalog, comparisons::Comparisons, live::LiveRuns, showcase::Showcase,
    starter::Starter, turns::Turns, view::Views,
};
use juror_aggregator::compare::Rules;
use std::{path::PathBuf, sync::Arc};
use tokio_util::sync::CancellationToken;

/// Thumbnails that are made at once, each of which takes one processor, and requests that wait.
const MAX_THUMBNAILS: usize = 2;
const MAX_WAITING_THUMBNAILS: usize = 256;

/// Shared by all requests; clones share it.
#[derive(Clone)]
pub struct Site {
    /// Which runs there are.
    pub catalog: Arc<Catalog>,
    /// What each of them came to.
    pub views: Arc<Views>,
    /// How those go that go on.
    pub live: Arc<LiveRuns>,
    /// How they stand against each other.
    pub comparisons: Arc<Comparisons>,
    /// Opens what runs judged.
    pub showcase: Arc<dyn Showcase>,
    /// Begins runs.
    pub starter: Arc<dyn Starter>,
    /// Limits how many thumbnails are made at once.
    pub thumbnails: Arc<Turns>,
    /// How runs are compared unless whoever asks says otherwise.
    pub rules: Rules,
}

impl Site {
    /// Of the runs in this directory; whatever goes on by itself ends when `stop` is cancelled. The
    /// rules also say how failed jobs enter averages.
    pub fn new(
        runs_dir: PathBuf,
        showcase: Arc<dyn Showcase>,
        starter: Arc<dyn Starter>,
        rules: Rules,
        stop: CancellationToken,
    ) -> Self {
        let catalog = Arc::new(Catalog::new(runs_dir));
        let views =
            Arc::new(Views::new(Arc::clone(&catalog), Arc::clone(&showcase), rules.averaging));
        let live = Arc::new(LiveRuns::new(Arc::clone(&catalog), Arc::clone(&showcase), stop));
        Self {
            catalog,
            views,
            live,
            comparisons: Arc::default(),
            showcase,
            starter,
            thumbnails: Arc::new(Turns::new(MAX_THUMBNAILS, MAX_WAITING_THUMBNAILS)),
            rules,
        }
    }
}
