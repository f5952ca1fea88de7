//! The views that are kept, least recently used ones let go.

use super::{RunView, ViewError};
use juror_analysis::metrics::AveragingPolicy;
use juror_app::{
    catalog::{Catalog, RunState, Stamp, stamp},
    items::ItemSource,
};
use juror_journal::journal::JournalError;
use juror_types::id::RunId;
use lru::LruCache;
use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex as Lock, PoisonError},
    time::Duration,
};
use tokio::{sync::Mutex, task::spawn_blocking, time::Instant};

/// So many runs are kept in memory.
const CAPACITY: NonZeroUsize = NonZeroUsize::MIN.saturating_add(7);

/// A run that goes on is read again at most this often, and never takes more than a tenth of a
/// processor.
const MIN_AGE: Duration = Duration::from_secs(2);
const AGE_PER_COST: u32 = 10;

/// The runs that were looked at last.
pub struct Views {
    catalog: Arc<Catalog>,
    item_source: Arc<dyn ItemSource>,
    averaging: AveragingPolicy,
    places: Lock<LruCache<RunId, ViewPlace>>,
}

/// Locked while its run is read, so that the run is read once however many ask for it.
type ViewPlace = Arc<Mutex<Option<KeptView>>>;

struct KeptView {
    stamps: Stamps,
    read_at: Instant,
    took: Duration,
    view: Arc<RunView>,
}

/// Marks by which a change of the run is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamps {
    record: Stamp,
    journal: Stamp,
    report: Stamp,
}

impl Views {
    /// An empty cache.
    pub fn new(
        catalog: Arc<Catalog>,
        item_source: Arc<dyn ItemSource>,
        averaging: AveragingPolicy,
    ) -> Self {
        let places = Lock::new(LruCache::new(CAPACITY));
        Self { catalog, item_source, averaging, places }
    }

    /// A run as it is now; one that goes on may be some seconds old.
    pub async fn of(&self, run: &RunId) -> Result<Arc<RunView>, ViewError> {
        let catalog = Arc::clone(&self.catalog);
        let asked = run.clone();
        let looking = spawn_blocking(move || {
            let files = catalog.files(&asked)?;
            let state = catalog.listed(&files).state;
            let stamps = Stamps {
                record: stamp(&files.path_of("run.json")),
                journal: stamp(&files.path_of("results.jsonl")),
                report: stamp(&files.path_of("report.json")),
            };
            Ok::<_, ViewError>((files, state, stamps))
        });
        let (files, state, stamps) = looking.await.map_err(|_| ViewError::Interrupted)??;
        let place = self.place_of(run);
        let mut kept = place.lock().await;
        if let Some(kept) = kept.as_ref().filter(|kept| kept.is_good(state, stamps)) {
            return Ok(Arc::clone(&kept.view));
        }
        let ledger = self.item_source.ledger(files.record()).await;
        let (item_source, averaging) = (Arc::clone(&self.item_source), self.averaging);
        let (read_at, noted) = (Instant::now(), files.clone());
        let reading =
            spawn_blocking(move || RunView::read(files, state, ledger, averaging, &*item_source));
        let read = reading.await.map_err(|_| ViewError::Interrupted)?;
        if let Err(ViewError::Journal(error @ JournalError::Unreadable { .. })) = &read {
            self.catalog.note_damage(&noted, error.in_its_run());
        }
        let view = Arc::new(read?);
        let took = read_at.elapsed();
        *kept = Some(KeptView { stamps, read_at, took, view: Arc::clone(&view) });
        Ok(view)
    }

    fn place_of(&self, run: &RunId) -> ViewPlace {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(places.get_or_insert(run.clone(), ViewPlace::default))
    }
}

impl KeptView {
    fn is_good(&self, state: RunState, stamps: Stamps) -> bool {
        if self.stamps == stamps && self.view.state == state {
            return true;
        }
        let is_active = state == RunState::Running && self.view.state == RunState::Running;
        is_active && self.read_at.elapsed() < MIN_AGE.max(self.took * AGE_PER_COST)
    }
}
