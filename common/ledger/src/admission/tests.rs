//! Comparison of the state machine with the backends.

pub(crate) mod differential;
pub(crate) mod differential_steps;
pub(crate) mod memory_records;
