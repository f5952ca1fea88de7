//! Time that the pages of one item may take together.

use parking_lot::Mutex;
use std::{sync::Arc, time::Duration};

/// Time that the pages of one item have taken, against the renderer's time limit. The pages are
/// open one after the other. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct RenderTime(Arc<Mutex<SpentTime>>);

/// Time of pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SpentTime {
    /// Processor time; zero where the system does not report it.
    pub processor: Duration,
    /// Time by the clock during which pages were worked on.
    pub clock: Duration,
}

impl RenderTime {
    pub(crate) fn spent(&self) -> SpentTime {
        *self.0.lock()
    }

    pub(crate) fn record(&self, spent: SpentTime) {
        *self.0.lock() = spent;
    }
}
