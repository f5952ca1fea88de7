//! The user's own programs that take part in a run. They come from the settings of the process that
//! runs them, never from a job or a dataset.

mod command_input;
mod compile;
mod pipeline;
mod process;
mod render;

pub(crate) use {
    compile::compile,
    pipeline::run_pipeline,
    render::{RenderCommandError, run_render},
};

use std::time::Duration;

/// A program to run for each item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandSettings {
    /// The program: a path, or a name to find in `PATH`.
    pub program: String,
    /// Arguments, passed without a shell.
    pub arguments: Vec<String>,
    /// Time limit of one run before it is killed.
    pub timeout: Duration,
}

#[cfg(test)]
mod tests;
