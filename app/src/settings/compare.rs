//! Settings of comparisons.

use serde::Deserialize;

/// `[compare]`.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CompareSettings {
    /// Largest change of the score, as a share, that does not matter.
    pub margin: f64,
    /// True if a criterion that got worse decides too.
    pub strict: bool,
    /// Maximum share of the base's items that the head may lose; above it the comparison is at best
    /// inconclusive.
    pub max_lost: f64,
    /// Change of an item's score, as a share, beyond which it falls or rises far.
    pub fallen_by: f64,
    /// Maximum share of the pairs that may fall far.
    pub fallen_share: f64,
    /// Effect of likely clusters that are not declared.
    pub likely_clusters: LikelyClusterPolicy,
    /// Days after which a blessed baseline is old; 0 for never.
    pub max_baseline_age_days: u32,
    /// Number of newest runs that are searched for flaky items; 0 for none.
    pub flaky_runs: usize,
    /// Effect of flaky items on gates and comparisons.
    pub flaky: FlakyPolicy,
}

/// Effect of flaky items on gates and comparisons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlakyPolicy {
    /// Flaky items count.
    #[default]
    Count,
    /// Flaky items are left out of the gate's metrics and of the comparison's figures and decision.
    LeaveOut,
}

/// Effect on intervals of likely clusters that are not declared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LikelyClusterPolicy {
    /// Intervals use them where the changes differ between them.
    #[default]
    Use,
    /// Intervals ignore them, and a warning names them.
    Warn,
}
