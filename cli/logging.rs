//! The log, on standard error.

use crate::{args::GlobalFlags, exit::Failure, settings_sources};
use juror_app::settings::LogFormat;
use std::{
    io::{self, IsTerminal as _},
    sync::OnceLock,
};
use tracing_subscriber::{
    EnvFilter, Layer as _, filter::filter_fn, fmt, layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};

/// Log target of notices to the user; see [`crate::terminal::print_notice`].
pub const NOTICE_TARGET: &str = "juror::notice";

/// Libraries that log message contents, or addresses with passwords.
const SENSITIVE_LIBRARIES: [&str; 2] = ["lapin", "amq_protocol"];

static FORMAT: OnceLock<LogFormat> = OnceLock::new();

/// Starts the log by the settings.
pub fn start(global: &GlobalFlags) -> Result<(), Failure> {
    let log = settings_sources::settle(global, Vec::new())?.log;
    let registry = tracing_subscriber::registry().with(filter(&log.level)?);
    let allowed = filter_fn(move |line| is_allowed(line.target(), &log.level));
    match log.format {
        LogFormat::Text => {
            let color = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            let lines = fmt::layer().with_ansi(color).with_writer(io::stderr);
            registry.with(lines.with_filter(allowed)).init();
        }
        LogFormat::Json => {
            let lines = fmt::layer().json().flatten_event(true).with_span_list(false);
            registry.with(lines.with_writer(io::stderr).with_filter(allowed)).init();
        }
    }
    FORMAT.get_or_init(|| log.format);
    Ok(())
}

/// True if standard error is a JSON log.
pub fn is_json() -> bool {
    FORMAT.get() == Some(&LogFormat::Json)
}

/// The user's filter, which never silences notices.
fn filter(level: &str) -> Result<EnvFilter, Failure> {
    let filter = EnvFilter::try_new(level).map_err(|error| {
        Failure::usage(format!(
            "setting log.level is {level:?}, which is not a valid filter: {error}"
        ))
    })?;
    let notices = format!("{NOTICE_TARGET}=info").parse().map_err(Failure::error)?;
    Ok(filter.add_directive(notices))
}

/// True unless the target is a sensitive library that the user's filter does not name.
fn is_allowed(target: &str, filter: &str) -> bool {
    let library = SENSITIVE_LIBRARIES.iter().find(|library| target.starts_with(**library));
    let is_named = |library: &str| filter.split(',').any(|part| part.trim().starts_with(library));
    library.is_none_or(|library| is_named(library))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sensitive_library_is_silent_unless_it_is_named() {
        for (filter, expected) in [
            ("trace", false),
            ("info,juror_ledger=trace", false),
            ("info, lapin::channels=debug", true),
            ("lapin=debug", true),
        ] {
            assert_eq!(is_allowed("lapin::returned_messages", filter), expected, "{filter}");
        }
        assert!(is_allowed("juror_worker::telemetry", "trace"));
        assert!(!is_allowed("amq_protocol_tcp", "trace,lapin=trace"));
    }

    #[test]
    fn an_invalid_filter_is_an_error() {
        let failure = filter("juror_worker=loud").unwrap_err();
        assert!(failure.to_string().contains("juror_worker=loud"), "{failure}");
        assert!(filter("off").is_ok());
    }
}
