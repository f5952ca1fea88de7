//! The journal: a run's record (`run.json`) and all its results (`results.jsonl`), in one directory
//! with at most one writing process.

mod error;
mod lines;
pub mod lock;
mod occupancy;
mod run_directory;
mod run_files;

pub use error::JournalError;
pub use lines::Results;
pub use occupancy::{check_vacant, is_run_directory, run_directory_above};
pub use run_directory::RunDirectory;
pub use run_directory::encode;
pub use run_files::RunFiles;
