//! `[prune]`: which runs and cached replies may go.

use serde::Deserialize;

/// `[prune]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PruneSettings {
    /// Days after its last result for which a run is kept; none keeps runs of any age.
    pub keep_days: Option<u32>,
    /// Megabytes (10⁶ bytes) that all runs together may take; none is unlimited.
    pub max_mb: Option<u64>,
    /// Runs that are kept of each series whatever their age, from its first one on.
    pub keep_first: usize,
    /// Days after its last use for which a cached reply is kept; none keeps all.
    pub keep_reply_days: Option<u32>,
}
