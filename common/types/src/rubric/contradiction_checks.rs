//! Contradictions between a verdict's scores, its findings and the measured evidence. Pure.

mod with_evidence;
mod within_reply;

pub use with_evidence::contradictions_with_evidence;
pub(super) use within_reply::contradictions_within_reply;
