//! The directory of a run: its record, and the journal that its results are committed to.

pub mod blessed;
pub mod journal;
pub mod replace_file;
#[cfg(any(test, feature = "test-results"))]
pub mod test_results;
