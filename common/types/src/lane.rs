//! Lanes in which calls are bought.

use serde::{Deserialize, Serialize};

/// A way to buy calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lane {
    /// An ordinary call.
    #[default]
    Realtime,
    /// A call at the price of batches that waits for spare capacity: OpenAI's service tier `flex`.
    Flex,
    /// A row of a batch that the provider works off within 24 hours, at half the price.
    Batch,
    /// Batches first, and ordinary calls for what they do not bring back in time; a way to buy a
    /// run, and never the way in which one answer was bought.
    Mixed,
}

impl Lane {
    /// The name in settings, results and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Realtime => "realtime",
            Self::Flex => "flex",
            Self::Batch => "batch",
            Self::Mixed => "mixed",
        }
    }

    /// True if jobs go out in batches, at least at first.
    pub fn is_batched(self) -> bool {
        matches!(self, Self::Batch | Self::Mixed)
    }

    /// True if calls are bought as they are by default.
    pub fn is_realtime(&self) -> bool {
        *self == Self::Realtime
    }
}
