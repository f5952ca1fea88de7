//! From a dataset to jobs on a queue: read the items, plan in two passes, upload their files where
//! that is wanted, submit.

pub mod dataset;
pub mod filter;
pub mod fleet;
pub mod plan;
pub mod publish;
pub mod upload;
