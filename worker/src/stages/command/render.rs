//! User-provided renderer, run for each item whose code is to be measured.

use super::{
    CommandInput, CommandSettings, FILE,
    process::{self, ProcessError},
    write_file,
};
use bytes::Bytes;
use juror_files::data_roots::{MAX_IMAGE_BYTES, Roots};
use juror_types::item::{Item, Language};
use tokio::task::spawn_blocking;

/// Placeholder in arguments for the path of the PNG to write.
const OUTPUT: &str = "{output}";

/// Failure to render with the command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RenderCommandError {
    /// The program ran and produced no image: a finding about the code, in one line.
    Failed(String),
    /// The program could not be run: no finding about the code.
    NotRun(String),
}

/// Runs the `render_command` on the code of an item: it receives the item as one JSON object on
/// stdin, the code in a file wherever an argument contains `{file}`, and writes a PNG to the path
/// in place of `{output}`.
pub async fn run_render(
    item: &Item,
    (code, language): (&str, Language),
    roots: &Roots,
    settings: &CommandSettings,
) -> Result<Bytes, RenderCommandError> {
    let not_run = |what: String| {
        RenderCommandError::NotRun(format!("render_command {}: {what}", settings.program))
    };
    let not_written = |error: std::io::Error| not_run(format!("its files cannot be made: {error}"));
    let input = write_file(code, language).map_err(not_written)?;
    let output = tempfile::Builder::new().prefix("juror-").suffix(".png").tempfile();
    let output = output.map_err(not_written)?;
    let [file, picture] =
        [input.path(), output.path()].map(|path| path.to_string_lossy().into_owned());
    let arguments = settings.arguments.iter();
    let arguments: Vec<String> =
        arguments.map(|argument| argument.replace(FILE, &file).replace(OUTPUT, &picture)).collect();
    let request = serde_json::to_vec(&CommandInput::new(item, roots))
        .map_err(|error| not_run(error.to_string()))?;
    let finished = match process::run(settings, &arguments, &request).await {
        Ok(finished) => finished,
        Err(error @ (ProcessError::NotStarted(_) | ProcessError::Pipe(_))) => {
            return Err(not_run(error.to_string()));
        }
        Err(error @ (ProcessError::TimedOut(_) | ProcessError::TooMuchOutput)) => {
            return Err(RenderCommandError::Failed(format!("the render command {error}")));
        }
    };
    if !finished.status.success() {
        let reason = one_line(&finished.stderr_tail);
        let reason = if reason.is_empty() { finished.status.to_string() } else { reason };
        return Err(RenderCommandError::Failed(reason));
    }
    let path = output.path().to_owned();
    let reading = spawn_blocking(move || {
        let size = std::fs::metadata(&path)?.len();
        if size > MAX_IMAGE_BYTES { Ok(None) } else { std::fs::read(&path).map(Some) }
    });
    match reading.await {
        Ok(Ok(Some(bytes))) if !bytes.is_empty() => Ok(bytes.into()),
        Ok(Ok(Some(_))) => {
            Err(RenderCommandError::Failed("the render command wrote no picture".to_owned()))
        }
        Ok(Ok(None)) => {
            Err(RenderCommandError::Failed("the render command wrote more than 64 MB".to_owned()))
        }
        Ok(Err(error)) => Err(not_run(format!("its picture cannot be read: {error}"))),
        Err(error) => Err(not_run(error.to_string())),
    }
}

/// The last line of a program's output that is not blank, where programs usually put the error.
fn one_line(output: &str) -> String {
    let line = output.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    line.trim().chars().take(300).collect()
}
