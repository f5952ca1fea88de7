//! Warnings of a run about its evidence, each emitted once.

use juror_types::event::{Event, Events};
use parking_lot::Mutex;
use std::collections::BTreeSet;

/// Maximum number of different warnings; results name the reason each.
const MAX_WARNINGS: usize = 20;

/// The warnings that were emitted.
#[derive(Debug, Default)]
pub struct EvidenceWarnings(Mutex<BTreeSet<String>>);

impl EvidenceWarnings {
    /// Emits a warning, unless the run had it before.
    pub(crate) async fn emit_once(&self, warning: String, events: &Events) {
        if self.is_new(&warning) {
            events.emit(Event::Warning(warning)).await;
        }
    }

    fn is_new(&self, warning: &str) -> bool {
        let mut emitted = self.0.lock();
        emitted.len() < MAX_WARNINGS && emitted.insert(warning.to_owned())
    }
}
