//! .

pub mod prompt;
pub mod reply;
