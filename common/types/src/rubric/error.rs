//! Errors of a rubric's file.

use crate::toml_problem::TomlProblem;
use std::fmt;

/// An invalid rubric, displayed with all its problems, one per line: file, line, key, problem and
/// remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RubricError {
    /// The file, as it was named.
    pub origin: String,
    /// Problems in the order of the file's lines, at least one.
    pub problems: Vec<TomlProblem>,
}

impl std::error::Error for RubricError {}

impl fmt::Display for RubricError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, problem) in self.problems.iter().enumerate() {
            if position > 0 {
                formatter.write_str("\n")?;
            }
            write!(formatter, "{}{problem}", self.origin)?;
        }
        Ok(())
    }
}
