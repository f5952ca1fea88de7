//! LRU cache of run views.

use super::{RunView, ViewError};
use juror_analysis::metrics::AveragingPolicy;
use juror_app::{
    item_source::ItemSource,
    run_catalog::{FileVersion, RunCatalog, RunState, file_version},
};
use juror_journal::journal::JournalError;
use juror_types::id::RunId;
use lru::LruCache;
use parking_lot::Mutex as Lock;
use std::{num::NonZeroUsize, sync::Arc, time::Duration};
use tokio::{sync::Mutex, task::spawn_blocking, time::Instant};

/// Maximum number of cached runs.
const CACHE_CAPACITY: NonZeroUsize = NonZeroUsize::MIN.saturating_add(7);

/// Minimum interval between reads of an active run, which is at least ten times the duration of a
/// read.
const MIN_READ_INTERVAL: Duration = Duration::from_secs(2);
const INTERVAL_PER_DURATION: u32 = 10;

/// Cache of the most recently used views.
pub struct Views {
    catalog: Arc<RunCatalog>,
    item_source: Arc<dyn ItemSource>,
    averaging: AveragingPolicy,
    entries: Lock<LruCache<RunId, ViewEntry>>,
}

impl Views {
    /// An empty cache.
    pub fn new(
        catalog: Arc<RunCatalog>,
        item_source: Arc<dyn ItemSource>,
        averaging: AveragingPolicy,
    ) -> Self {
        let entries = Lock::new(LruCache::new(CACHE_CAPACITY));
        Self { catalog, item_source, averaging, entries }
    }

    /// The current view of a run; that of an active run may be some seconds old.
    pub async fn get(&self, run: &RunId) -> Result<Arc<RunView>, ViewError> {
        let catalog = Arc::clone(&self.catalog);
        let id = run.clone();
        let listing = spawn_blocking(move || {
            let files = catalog.files(&id)?;
            let state = catalog.listed(&files).state;
            let versions = FileVersions {
                record: file_version(&files.path_of("run.json")),
                journal: file_version(&files.path_of("results.jsonl")),
                report: file_version(&files.path_of("report.json")),
            };
            Ok::<_, ViewError>((files, state, versions))
        });
        let (files, state, versions) = listing.await.map_err(|_| ViewError::Interrupted)??;
        let entry = self.entry(run);
        let mut kept = entry.lock().await;
        if let Some(kept) = kept.as_ref().filter(|kept| kept.is_current(state, versions)) {
            return Ok(Arc::clone(&kept.view));
        }
        let ledger = self.item_source.ledger(files.record()).await;
        let (item_source, averaging) = (Arc::clone(&self.item_source), self.averaging);
        let (read_at, read_files) = (Instant::now(), files.clone());
        let reading =
            spawn_blocking(move || RunView::read(files, state, ledger, averaging, &*item_source));
        let read = reading.await.map_err(|_| ViewError::Interrupted)?;
        if let Err(ViewError::Journal(error @ JournalError::Unreadable { .. })) = &read {
            self.catalog.note_damage(&read_files, error.in_its_run());
        }
        let view = Arc::new(read?);
        let took = read_at.elapsed();
        *kept = Some(KeptView { versions, read_at, took, view: Arc::clone(&view) });
        Ok(view)
    }

    fn entry(&self, run: &RunId) -> ViewEntry {
        let mut entries = self.entries.lock();
        Arc::clone(entries.get_or_insert(run.clone(), ViewEntry::default))
    }
}

/// Cache entry, locked while its run is read, so that concurrent requests read it once.
type ViewEntry = Arc<Mutex<Option<KeptView>>>;

struct KeptView {
    versions: FileVersions,
    read_at: Instant,
    took: Duration,
    view: Arc<RunView>,
}

/// Versions of a run's files, to detect changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileVersions {
    record: FileVersion,
    journal: FileVersion,
    report: FileVersion,
}

impl KeptView {
    fn is_current(&self, state: RunState, versions: FileVersions) -> bool {
        if self.versions == versions && self.view.state == state {
            return true;
        }
        let is_active = state == RunState::Running && self.view.state == RunState::Running;
        is_active
            && self.read_at.elapsed() < MIN_READ_INTERVAL.max(self.took * INTERVAL_PER_DURATION)
    }
}
