//! Settings of measured evidence.

use juror_types::evidence::EvidenceMode;
use serde::Deserialize;

/// `[evidence]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EvidenceSettings {
    /// Mode of measured evidence: off, facts alone, or pictures for the judge too.
    pub mode: EvidenceMode,
    /// Drawings made at most to find the repairs of one item.
    pub trials: usize,
}
