//! Resources for measuring evidence that all runs of a process share, and the warnings of one run.

use futures_util::future::BoxFuture;
use juror_files::render_cache::RenderCache;
use juror_render::{Renderer, RendererError, RendererSettings};
use parking_lot::Mutex;
use std::{collections::BTreeSet, sync::Arc};
use tokio::sync::{AcquireError, OnceCell, OwnedSemaphorePermit, Semaphore};

/// Memory bound, browsers, and store of images generated during judging.
pub struct EvidenceResources {
    /// Store of such images.
    pub renders: RenderCache,
    rendering: RenderingSettings,
    renderer: OnceCell<Result<Renderer, RendererError>>,
    permits: Arc<Semaphore>,
}

/// Settings of the built-in renderer and of the repairs that are tried with it.
#[derive(Clone, Debug, Default)]
pub struct RenderingSettings {
    /// Browsers and their limits.
    pub renderer: RendererSettings,
    /// Maximum number of renders for the repairs of one item; 0 disables repairs.
    pub trials: usize,
}

/// Maximum number of different warnings of a run; results name the reason each.
const MAX_WARNINGS: usize = 20;

/// Warnings of a run about its evidence, each emitted once.
#[derive(Debug, Default)]
pub struct EvidenceWarnings(Mutex<BTreeSet<String>>);

impl EvidenceWarnings {
    /// True if the run had no such warning before, and not too many others.
    pub(crate) fn is_new(&self, warning: &str) -> bool {
        let mut emitted = self.0.lock();
        emitted.len() < MAX_WARNINGS && emitted.insert(warning.to_owned())
    }
}

impl EvidenceResources {
    /// Creates resources that admit `width` concurrent image pairs (at least one).
    pub fn new(width: usize, renders: RenderCache, rendering: RenderingSettings) -> Self {
        let permits = Arc::new(Semaphore::new(width.max(1)));
        Self { renders, rendering, renderer: OnceCell::new(), permits }
    }

    /// Starts the built-in renderer, unless it was started before.
    ///
    /// # Errors
    /// The renderer cannot be started; each item that needs it fails with this error.
    pub fn start_renderer(&self) -> BoxFuture<'_, Result<(), RendererError>> {
        Box::pin(async move { self.renderer().await.map(|_| ()).map_err(Clone::clone) })
    }

    /// The built-in renderer, started by the first item that needs it.
    pub(crate) async fn renderer(&self) -> Result<&Renderer, &RendererError> {
        let start = || Renderer::start(self.rendering.renderer.clone());
        self.renderer.get_or_init(start).await.as_ref()
    }

    /// True once the built-in renderer could not be started, or has given up.
    pub(crate) fn is_renderer_broken(&self) -> bool {
        match self.renderer.get() {
            None => false,
            Some(Ok(renderer)) => renderer.is_disabled(),
            Some(Err(_)) => true,
        }
    }

    /// Maximum number of renders for the repairs of one item.
    pub(crate) fn trials(&self) -> usize {
        self.rendering.trials
    }

    /// Waits until memory for another image pair is free. Fails only while the process ends.
    pub(crate) async fn permit(&self) -> Result<OwnedSemaphorePermit, AcquireError> {
        Arc::clone(&self.permits).acquire_owned().await
    }
}
