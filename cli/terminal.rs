//! Standard output and standard error.

use crate::{args::GlobalFlags, exit::AppError, location_flags, logging};
use juror_report::{TerminalOptions, document::Topic, render_topics};
use std::{
    io::{self, ErrorKind, IsTerminal, Write},
    path::Path,
    sync::OnceLock,
};

/// Flags of this process's output: `--json` and `--quiet`.
static FLAGS: OnceLock<(bool, bool)> = OnceLock::new();

/// Sets the form of this process's output.
pub fn follow_flags(flags: &GlobalFlags) {
    FLAGS.get_or_init(|| (flags.json, flags.quiet));
}

/// True if results are printed as JSON.
pub fn is_json() -> bool {
    FLAGS.get().is_some_and(|(json, _)| *json)
}

/// True if nothing but results and errors is printed.
pub fn is_quiet() -> bool {
    FLAGS.get().is_some_and(|(_, quiet)| *quiet)
}

/// Prints results on standard output. A closed pipe (`| head`) is not an error.
pub fn print(text: &str) -> Result<(), AppError> {
    let mut output = io::stdout().lock();
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    match write!(output, "{text}{newline}").and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(AppError::internal(format!("standard output cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints a result as JSON on standard output.
pub fn print_json(value: &impl serde::Serialize) -> Result<(), AppError> {
    print(&serde_json::to_string_pretty(value).map_err(AppError::internal)?)
}

/// Prints a result on standard output: as JSON, or as this text.
pub fn print_result(
    value: &impl serde::Serialize,
    text: impl FnOnce() -> String,
) -> Result<(), AppError> {
    if is_json() { print_json(value) } else { print(&text()) }
}

/// Text of topics of a report on standard output.
pub fn topics_text(topics: &[Topic]) -> String {
    render_topics(topics, options())
}

/// Prints a notice on standard error: as text, or as a log line if the log is JSON. Commands that it
/// proposes get this command's location flags.
pub fn print_notice(text: &str) {
    let text = location_flags::add_to_commands(text);
    if logging::is_json() {
        return tracing::info!(target: logging::NOTICE_TARGET, "{text}");
    }
    // Nothing is lost if standard error is closed.
    let _ = writeln!(io::stderr(), "{text}");
}

/// Prints a notice, as [`print_notice`] does, unless `--quiet` is given.
pub fn print_hint(text: &str) {
    if !is_quiet() {
        print_notice(text);
    }
}

/// Prints a warning, as [`print_notice`] does.
pub fn warn(text: &str) {
    if logging::is_json() {
        let text = location_flags::add_to_commands(text);
        return tracing::warn!(target: logging::NOTICE_TARGET, "{text}");
    }
    print_notice(&format!("warning: {text}"));
}

/// Prints a failure of the command, as [`print_notice`] does.
pub fn fail(failure: &AppError) {
    if logging::is_json() {
        let failure = failure.to_string();
        let failure = location_flags::add_to_commands(&failure);
        return tracing::error!(target: logging::NOTICE_TARGET, "{failure}");
    }
    print_notice(&format!("juror: {failure}"));
}

/// Width in columns and colors of reports on standard output.
pub fn options() -> TerminalOptions {
    let terminal = io::stdout().is_terminal();
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let columns = columns.filter(|_| terminal).unwrap_or(80);
    let color = terminal && logging::allows_color();
    TerminalOptions { width: columns.clamp(60, 120), color }
}

/// A path relative to the current folder, if it is below it.
pub fn relative_path(path: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let short = Path::new(path).strip_prefix(here).ok().filter(|rest| *rest != Path::new(""));
    short.map_or_else(|| path.to_owned(), |short| short.display().to_string())
}

/// Widths of a table's columns, in characters.
pub fn column_widths<const N: usize>(lines: &[[String; N]]) -> [usize; N] {
    std::array::from_fn(|column| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    })
}
