//! One job to one result.

pub mod files;
pub mod image;
pub mod load;
pub mod stages;
