//! One job to one result: the worker's parts.

pub mod ceiling;
pub mod concurrency;
pub mod retry;
pub mod vision;
