//! The journal: what a run is (`run.json`) and every result that it has (`results.jsonl`), in one
//! directory that at most one process writes to.

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
