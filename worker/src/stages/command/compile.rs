//! The user's own compiler in place of the built-in check.

use super::{CommandSettings, FILE, process, write_file};
use crate::stages::compile::Compilation;
use juror_types::{item::Language, outcome::JobError};

/// Runs the `compile_command` on code: it receives the code on stdin, and in a file with the
/// language's extension wherever an argument contains `{file}`. Exit status 0 means that the code
/// compiles; any other makes the end of its output the error. A command that cannot be started or
/// does not end is an error of kind `pipeline`, since it gives no information about the code.
pub async fn compile(
    code: &str,
    language: Language,
    settings: &CommandSettings,
) -> Result<Compilation, JobError> {
    let needs_file = settings.arguments.iter().any(|argument| argument.contains(FILE));
    let file = needs_file.then(|| write_file(code, language)).transpose().map_err(|error| {
        settings.error("compile_command", format!("cannot write its input file: {error}"))
    })?;
    let path = file.as_ref().map(|file| file.path().to_string_lossy().into_owned());
    let arguments: Vec<_> = settings
        .arguments
        .iter()
        .map(|argument| argument.replace(FILE, path.as_deref().unwrap_or(FILE)))
        .collect();
    let finished = process::run(settings, &arguments, code.as_bytes())
        .await
        .map_err(|error| settings.error("compile_command", error))?;
    if finished.status.success() {
        return Ok(Compilation::Sound);
    }
    // Some compilers print errors to stdout.
    let output = String::from_utf8_lossy(&finished.stdout);
    let error_text =
        if finished.stderr_tail.is_empty() { output.trim() } else { &finished.stderr_tail };
    let error_text: String = error_text.chars().take(2000).collect();
    Ok(Compilation::Broken(format!("{}: {error_text}", finished.status)))
}
