//! Lanes in which calls are bought.

use serde::{Deserialize, Serialize};

/// A way to buy calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lane {
    /// An ordinary call.
    #[default]
    Realtime,
    /// A call at batch price that waits for spare capacity: OpenAI's service tier `flex`.
    Flex,
    /// A row of a batch that the provider finishes within 24 hours, at half the price.
    Batch,
    /// Batches first, and realtime calls for rows that are not back in time; a lane of runs, never
    /// of a single reply.
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

    /// True if jobs are sent in batches, at least at first.
    pub fn is_batched(self) -> bool {
        matches!(self, Self::Batch | Self::Mixed)
    }

    /// True for the default lane.
    pub fn is_realtime(&self) -> bool {
        *self == Self::Realtime
    }
}
