//! Programs of the user's that take part in a run. They come from the settings of the process that
//! runs them, never from a job or a dataset.

mod compile;
mod pipeline;
mod process;

pub use compile::compile;
pub use pipeline::run_pipeline;

use std::time::Duration;

/// A program to run for each item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandSettings {
    /// The program: a path, or a name to find in `PATH`.
    pub program: String,
    /// Its arguments, as they are; no shell reads them.
    pub arguments: Vec<String>,
    /// How long one run may take before it is killed.
    pub timeout: Duration,
}

#[cfg(test)]
mod tests;
