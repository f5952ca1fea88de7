//! Resources for measuring evidence that all runs of a process share.

use juror_files::kept_renders::KeptRenders;
use juror_render::{Renderer, RendererError, RendererSettings};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};
use tokio::sync::{AcquireError, OnceCell, OwnedSemaphorePermit, Semaphore};

/// A memory bound, the browsers, and the place of pictures that are made while items are judged.
pub struct EvidenceResources {
    /// Place where such pictures are kept.
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
    /// Maximum number of drawings to find the repairs of one item; 0 tries none.
    pub trials: usize,
}

impl EvidenceResources {
    /// Resources that admit `width` pairs of pictures at once (at least one).
    pub fn new(width: usize, renders: KeptRenders, rendering: RenderingSettings) -> Self {
        let permits = Arc::new(Semaphore::new(width.max(1)));
        let (renderer, is_warned) = (OnceCell::new(), AtomicBool::new(false));
        Self { renders, rendering, renderer, permits, is_warned }
    }

    /// The built-in renderer, started by the first item that needs it, and true if this call
    /// started it.
    pub(crate) async fn renderer(&self) -> (Result<&Renderer, &RendererError>, bool) {
        let mut is_first = false;
        let start = async {
            is_first = true;
            Renderer::start(self.rendering.renderer.clone()).await
        };
        let renderer = self.renderer.get_or_init(|| start).await;
        (renderer.as_ref(), is_first)
    }

    /// Maximum number of drawings to find the repairs of one item.
    pub(crate) fn trials(&self) -> usize {
        self.rendering.trials
    }

    /// Waits until memory for another pair of pictures is free. Fails only while the process ends.
    pub(crate) async fn permit(&self) -> Result<OwnedSemaphorePermit, AcquireError> {
        Arc::clone(&self.permits).acquire_owned().await
    }

    /// True at the first call, and false afterwards: a warning that items are not measured is due
    /// once.
    pub(crate) fn warns_first(&self) -> bool {
        !self.is_warned.swap(true, Ordering::Relaxed)
    }
}
