//! Lanes in which calls are bought.

use serde::{Deserialize, Serialize};

crate::serde_enum! {
    /// A way to buy calls.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum Lane {
        /// An ordinary call.
        #[default]
        Realtime = "realtime",
        /// A call at batch price that waits for spare capacity: OpenAI's service tier `flex`.
        Flex = "flex",
        /// A row of a batch that the provider finishes within 24 hours, at half the price.
        Batch = "batch",
        /// Batches first, and realtime calls for rows that are not back in time; a lane of runs,
        /// never of a single reply.
        Mixed = "mixed",
    }
}

impl Lane {
    /// True if jobs are sent in batches, at least at first.
    pub fn is_batched(self) -> bool {
        matches!(self, Self::Batch | Self::Mixed)
    }
}
