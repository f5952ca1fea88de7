//! The journal: a run's record (`run.json`) and all its results (`results.jsonl`), in one directory
//! with at most one writing process.

mod error;
mod journal_writer;
pub mod lock;
mod occupancy;
mod result_reader;
mod run_files;

pub use error::JournalError;
pub use journal_writer::JournalWriter;
pub use journal_writer::encode;
pub use occupancy::{check_vacant, is_run_directory, run_directory_above};
pub use result_reader::Results;
pub use run_files::{JOURNAL_FILE, RunFiles};
