//! The producer: reads a dataset's items, plans jobs in two passes, uploads their files if
//! requested, and publishes the jobs.

pub mod dataset;
pub mod filter;
pub mod fleet;
pub mod plan;
pub mod publish;
pub mod upload;
