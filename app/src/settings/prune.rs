//! `[prune]`: limits of kept runs and cached replies.

use serde::Deserialize;

/// `[prune]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PruneSettings {
    /// Days to keep a run after its last result; none is unlimited.
    pub keep_days: Option<u32>,
    /// Maximum size of all runs together, in megabytes (10⁶ bytes); none is unlimited.
    pub max_mb: Option<u64>,
    /// Number of first runs of each series that are always kept.
    pub keep_first: usize,
    /// Days to keep a cached reply after its last use; none is unlimited.
    pub keep_reply_days: Option<u32>,
}
