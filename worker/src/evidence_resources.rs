//! Resources that the measuring of all runs of a process shares.

use juror_files::kept_renders::KeptRenders;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

/// A bound of memory, and the place of pictures that are made while items are judged.
pub struct EvidenceResources {
    /// Where such pictures are kept.
    pub renders: KeptRenders,
    permits: Arc<Semaphore>,
    is_warned: AtomicBool,
}

impl EvidenceResources {
    /// Room for `width` pairs of pictures at once (at least one).
    pub fn new(width: usize, renders: KeptRenders) -> Self {
        let permits = Arc::new(Semaphore::new(width.max(1)));
        Self { renders, permits, is_warned: AtomicBool::new(false) }
    }

    /// Waits until there is room for another pair of pictures. Fails only while the process ends.
    pub(crate) async fn permit(&self) -> Result<OwnedSemaphorePermit, AcquireError> {
        Arc::clone(&self.permits).acquire_owned().await
    }

    /// Whether nobody was warned yet that items are not measured; true once.
    pub(crate) fn warns_first(&self) -> bool {
        !self.is_warned.swap(true, Ordering::Relaxed)
    }
}
