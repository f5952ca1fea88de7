//! Usage of a batch by its provider and by its rows, where the two differ.

use crate::usage::Usage;
use serde::{Deserialize, Serialize};

/// Usage of a batch that its provider reports and its rows do not add up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchUsage {
    /// Number of the batch's shard in the run.
    pub shard: u32,
    /// Usage of the batch, as the provider reports it.
    pub reported: Usage,
    /// Sum of the usage of its rows, which is booked.
    pub rows: Usage,
}

impl BatchUsage {
    /// The record of a batch; `None` if both figures agree.
    pub fn differing(shard: u32, reported: Usage, rows: Usage) -> Option<Self> {
        let tokens = |usage: Usage| (usage.input_tokens, usage.output_tokens);
        (tokens(reported) != tokens(rows)).then_some(Self { shard, reported, rows })
    }
}
