//! The log, on standard error.

use crate::exit::AppError;
use juror_app::settings::{LogFormat, LogSettings};
use std::{
    io::{self, IsTerminal as _},
    sync::OnceLock,
};
use tracing_subscriber::{
    filter::{LevelFilter, Targets},
    fmt,
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};

/// Log target of notices to the user; see [`crate::terminal::print_notice`].
pub const NOTICE_TARGET: &str = "juror::notice";

/// Libraries that log message contents, or addresses with passwords.
const SENSITIVE_LIBRARIES: [&str; 2] = ["lapin", "amq_protocol"];

static FORMAT: OnceLock<LogFormat> = OnceLock::new();

/// True unless the environment requests plain text: by `NO_COLOR`, or by a terminal without color.
pub fn allows_color() -> bool {
    let is_dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
    std::env::var_os("NO_COLOR").is_none() && !is_dumb
}

/// Starts the log by the settings.
pub fn start(log: &LogSettings) -> Result<(), AppError> {
    let registry = tracing_subscriber::registry().with(filter(&log.level)?);
    match log.format {
        LogFormat::Text => {
            let color = io::stderr().is_terminal() && allows_color();
            registry.with(fmt::layer().with_ansi(color).with_writer(io::stderr)).init();
        }
        LogFormat::Json => {
            let lines = fmt::layer().json().flatten_event(true).with_span_list(false);
            registry.with(lines.with_writer(io::stderr)).init();
        }
    }
    FORMAT.get_or_init(|| log.format);
    Ok(())
}

/// True if standard error is a JSON log.
pub fn is_json() -> bool {
    FORMAT.get() == Some(&LogFormat::Json)
}

/// The user's filter, which never silences notices, nor lets a sensitive library log unless it names
/// it.
fn filter(level: &str) -> Result<Targets, AppError> {
    let parts: Vec<&str> =
        level.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    let filter: Targets = match parts.is_empty() {
        // The text of no parts would be read as a target that enables all.
        true => Targets::new(),
        false => parts.join(",").parse().map_err(|error| {
            AppError::invalid(format!(
                "setting log.level is {level:?}, which is not a valid filter: {error}"
            ))
        })?,
    };
    let is_named = |library: &&str| parts.iter().any(|part| part.starts_with(*library));
    let silent = SENSITIVE_LIBRARIES.into_iter().filter(|library| !is_named(library));
    let silent = silent.map(|library| (library, LevelFilter::OFF));
    Ok(filter.with_targets(silent).with_target(NOTICE_TARGET, LevelFilter::INFO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sensitive_library_is_silent_unless_it_is_named_in_the_filter() {
        let enables = |level: &str, target: &str| {
            filter(level).unwrap().would_enable(target, &tracing::Level::INFO)
        };
        for (level, expected) in [
            ("trace", false),
            ("info,juror_ledger=trace", false),
            ("info, lapin::channels=debug", true),
            ("lapin=debug", true),
        ] {
            assert_eq!(enables(level, "lapin::returned_messages"), expected, "{level}");
        }
        assert!(enables("trace", "juror_worker::telemetry"));
        assert!(!enables("trace,lapin=trace", "amq_protocol_tcp"));
        assert!(enables("off", NOTICE_TARGET) && !enables(" , ", "juror_worker"));
    }

    #[test]
    fn an_invalid_filter_is_an_error() {
        let failure = filter("juror_worker=loud").unwrap_err();
        assert!(failure.to_string().contains("juror_worker=loud"), "{failure}");
        assert!(filter("off").is_ok());
    }
}
