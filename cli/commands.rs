//! Commands, one file each.

pub mod aggregate;
pub mod bless;
pub mod budget;
pub mod cache;
pub mod calibrate;
pub mod cancel;
pub mod compare;
pub mod completions;
pub mod dead_letters;
pub mod demo;
pub mod doctor;
pub mod enqueue;
pub mod estimate;
pub mod follow;
pub mod init;
pub mod report;
pub mod retry;
pub mod rubric;
pub mod run;
pub mod runs;
pub mod serve;
pub mod settings;
pub mod simulate;
pub mod worker;
