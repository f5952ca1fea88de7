//! From a dataset to jobs on a queue: read the items, plan in two passes, submit.

pub mod dataset;
pub mod filter;
pub mod plan;
pub mod submit;
