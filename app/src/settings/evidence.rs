//! Settings of measured evidence.

use juror_types::evidence::EvidenceMode;
use serde::Deserialize;

/// `[evidence]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EvidenceSettings {
    /// Whether code is rendered and measured, and what of that the judge is sent.
    pub mode: EvidenceMode,
    /// Drawings made at most to find the repairs of one item.
    pub trials: usize,
}
