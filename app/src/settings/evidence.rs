//! Settings of measured evidence.

use juror_types::evidence::EvidenceMode;
use serde::Deserialize;

/// `[evidence]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EvidenceSettings {
    /// Mode of measured evidence: none, facts, or also images for the judge.
    pub mode: EvidenceMode,
    /// Maximum number of renderings to find the repairs of an item.
    pub trials: usize,
}
