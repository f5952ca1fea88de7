//! Errors of a rubric's file.

use std::fmt;

/// A rubric that cannot be used. Shows one line for each problem, all of them at once, so that a
/// file is mended in one go: file, line, key, what is wrong, what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RubricError {
    /// The file, as it was named.
    pub origin: String,
    /// At least one problem, in the order of the file's lines.
    pub problems: Vec<RubricProblem>,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RubricProblem {
    /// The line, from 1; none where something is missing from the whole file.
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
