//! Errors of a rubric's file.

use std::fmt;

/// An invalid rubric, displayed with all its problems, one per line: file, line, key, problem and
/// remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RubricError {
    /// The file, as it was named.
    pub origin: String,
    /// Problems in the order of the file's lines, at least one.
    pub problems: Vec<RubricProblem>,
}

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RubricProblem {
    /// Line number, from 1; none where something is missing from the whole file.
    pub line: Option<usize>,
    /// The key, as in `criteria.layout_accuracy.weight`; empty where the file is not TOML.
    pub key: String,
    /// The problem and the remedy.
    pub message: String,
}

impl std::error::Error for RubricError {}

impl fmt::Display for RubricError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, problem) in self.problems.iter().enumerate() {
            if position > 0 {
                formatter.write_str("\n")?;
            }
            write!(formatter, "{}", self.origin)?;
            if let Some(line) = problem.line {
                write!(formatter, ":{line}")?;
            }
            if !problem.key.is_empty() {
                write!(formatter, ": {}", problem.key)?;
            }
            write!(formatter, ": {}", problem.message)?;
        }
        Ok(())
    }
}
