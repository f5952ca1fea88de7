//! The commands, a file each.

pub mod cache;
pub mod demo;
pub mod doctor;
pub mod estimate;
pub mod report;
pub mod rubric;
pub mod run;
pub mod runs;
pub mod simulate;
