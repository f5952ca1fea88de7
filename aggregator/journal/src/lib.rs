//! The directory of a run: its record, and the journal of its results.

pub mod blessed;
pub mod journal;
pub mod replace_file;
#[cfg(any(test, feature = "test-fixtures"))]
pub mod test_fixtures;
