//! Resources that the measuring of all runs of a process shares.

use juror_files::kept_renders::KeptRenders;
use juror_render::{Renderer, RendererError, RendererSettings};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};
use tokio::sync::{AcquireError, OnceCell, OwnedSemaphorePermit, Semaphore};

/// A bound of memory, the browsers, and the place of pictures that are made while items are judged.
pub struct EvidenceResources {
    /// Where such pictures are kept.
    pub renders: KeptRenders,
    rendering: RenderingSettings,
    renderer: OnceCell<Result<Renderer, RendererError>>,
    permits: Arc<Semaphore>,
    is_warned: AtomicBool,
}

/// Settings of the built-in renderer and of the repairs that are tried with it.
#[derive(Clone, Debug, Default)]
pub struct RenderingSettings {
    /// The browsers.
    pub renderer: RendererSettings,
    /// Drawings made at most to find the repairs of one item; 0 tries none.
    pub trials: usize,
}

impl EvidenceResources {
    /// Room for `width` pairs of pictures at once (at least one).
    pub fn new(width: usize, renders: KeptRenders, rendering: RenderingSettings) -> Self {
        let permits = Arc::new(Semaphore::new(width.max(1)));
        let (renderer, is_warned) = (OnceCell::new(), AtomicBool::new(false));
        Self { renders, rendering, renderer, permits, is_warned }
    }

    /// The built-in renderer, started by the first item that needs it, and whether this call did so.
    pub(crate) async fn renderer(&self) -> (Result<&Renderer, &RendererError>, bool) {
        let mut is_first = false;
        let start = async {
            is_first = true;
            Renderer::start(self.rendering.renderer.clone()).await
        };
        let renderer = self.renderer.get_or_init(|| start).await;
        (renderer.as_ref(), is_first)
    }

    /// Drawings made at most to find the repairs of one item.
    pub(crate) fn trials(&self) -> usize {
        self.rendering.trials
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
