//! One job to one result.

pub mod ceiling;
pub mod concurrency;
pub mod image;
pub mod prompt;
pub mod reply;
pub mod retry;
pub mod vision;
