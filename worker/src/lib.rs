//! One job to one result.

pub mod image;
