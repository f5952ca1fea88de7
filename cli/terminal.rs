//! Standard output and standard error.

use crate::{exit::Failure, logging};
use std::{
    io::{self, ErrorKind, IsTerminal, Write},
    path::Path,
};

/// Writes results to standard output. A reader that has gone away (`| head`) is no error.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    match write!(output, "{text}{newline}").and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::error(format!("standard output cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a serializable result as JSON to standard output.
pub fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    print(&serde_json::to_string_pretty(value).map_err(Failure::error)?)
}

/// Tells the user something beside the results, on standard error: plainly, or in the log where
/// that is all that standard error shall hold.
pub fn print_notice(text: &str) {
    if logging::is_json() {
        return tracing::info!(target: logging::TOLD, "{text}");
    }
    // Nothing is lost if standard error is closed.
    let _ = writeln!(io::stderr(), "{text}");
}

/// As [`tell`], something that stops nothing and should be known.
pub fn warn(text: &str) {
    if logging::is_json() {
        return tracing::warn!(target: logging::TOLD, "{text}");
    }
    print_notice(&format!("warning: {text}"));
}

/// As [`tell`], why the command did not do what was asked.
pub fn fail(failure: &Failure) {
    if logging::is_json() {
        return tracing::error!(target: logging::TOLD, "{failure}");
    }
    print_notice(&format!("juror: {failure}"));
}

/// Layout of reports on standard output.
pub fn width_and_color() -> (usize, bool) {
    let terminal = io::stdout().is_terminal();
    let columns = console_columns().filter(|_| terminal).unwrap_or(80);
    (columns.clamp(60, 120), terminal && std::env::var_os("NO_COLOR").is_none())
}

/// A path as a person in the current folder would write it.
pub fn as_seen_from_here(path: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let short = Path::new(path).strip_prefix(here).ok().filter(|rest| *rest != Path::new(""));
    short.map_or_else(|| path.to_owned(), |short| short.display().to_string())
}

fn console_columns() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok()
}
