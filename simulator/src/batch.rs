//! OpenAI's files and batches with injectable faults.

mod fault;
mod file_store;
mod lifecycle;
mod multipart;
mod outputs;
mod service;

pub use fault::BatchFault;
pub(crate) use outputs::{RowAnswerer, RowReply};
pub(crate) use service::{BatchReply, BatchRequest, BatchService};

use crate::deviation_share::Share;

/// End of a simulated batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchEnd {
    /// At the next poll after this number of polls.
    AfterPolls(u32),
    /// At a request of `POST /end-batches`.
    OnRequest,
}

impl Default for BatchEnd {
    fn default() -> Self {
        Self::AfterPolls(0)
    }
}

/// Behavior of a simulator's batches.
#[derive(Clone, Debug, Default)]
pub struct BatchSettings {
    /// Condition on which they end.
    pub end: BatchEnd,
    /// Their faults.
    pub faults: Vec<Share<BatchFault>>,
    /// Maximum input tokens of all active batches, if limited.
    pub enqueued_tokens: Option<u64>,
}

impl BatchSettings {
    /// The share of batches, or of their rows, that this fault meets.
    pub(crate) fn share(&self, fault: BatchFault) -> f64 {
        let rate = self.faults.iter().find(|rate| rate.of == fault);
        rate.map_or(0.0, |rate| rate.share)
    }

    pub(crate) fn has(&self, fault: BatchFault) -> bool {
        self.share(fault) > 0.0
    }
}
