//! The user's own programs that take part in a run. They come from the settings of the process that
//! runs them, never from a job or a dataset.

mod compile;
mod pipeline;
mod process;
mod render;

pub(crate) use {
    compile::compile,
    pipeline::run_pipeline,
    render::{RenderCommandError, run_render},
};

use juror_files::data_roots::Roots;
use juror_types::{
    item::{Item, Language},
    outcome::{ErrorKind, JobError},
};
use serde::Serialize;
use std::{collections::BTreeMap, fmt::Display, io::Write, time::Duration};

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

impl CommandSettings {
    /// Error of a job whose command, by the name of its setting, did not do its work.
    fn error(&self, setting: &str, problem: impl Display) -> JobError {
        let message = format!("{setting} {}: {problem}", self.program);
        JobError { kind: ErrorKind::Pipeline, message }
    }
}

/// Placeholder in arguments for the path of a file with the code.
const FILE: &str = "{file}";

/// Input of a command on stdin.
#[derive(Serialize)]
struct CommandInput<'item> {
    schema: u32,
    #[serde(flatten)]
    item: &'item Item,
    /// Absolute paths of those images that are files here, by name.
    paths: BTreeMap<&'item str, String>,
}

impl<'item> CommandInput<'item> {
    /// Input for an item whose relative paths are under these roots.
    fn new(item: &'item Item, roots: &Roots) -> Self {
        let paths = item.images.iter().filter_map(|(name, image)| {
            let path = roots.resolve(&image.reference).ok()?;
            Some((name.as_str(), path.to_str()?.to_owned()))
        });
        Self { schema: juror_types::SCHEMA, item, paths: paths.collect() }
    }
}

/// Writes code to a file with the ending of its language; the file is removed with the handle.
fn write_file(code: &str, language: Language) -> std::io::Result<tempfile::NamedTempFile> {
    let ending = format!(".{}", language.name());
    let mut file = tempfile::Builder::new().prefix("juror-").suffix(&ending).tempfile()?;
    file.write_all(code.as_bytes())?;
    Ok(file)
}

#[cfg(test)]
mod tests;
