//! The journal: a run's record (`run.json`) and all its results (`results.jsonl`), in one directory
//! with at most one writing process.

mod directory;
mod error;
mod files;
mod lines;
pub mod lock;
mod occupancy;

pub use directory::RunDirectory;
pub use directory::encode;
pub use error::JournalError;
pub use files::RunFiles;
pub use lines::Results;
pub use occupancy::{check_vacant, is_run_directory, run_directory_above};
