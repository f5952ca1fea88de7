//! The deterministic stages.

pub mod compile;
pub mod retrieval;
pub mod tokens;
mod values;
