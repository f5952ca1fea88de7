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

/// The target of what the user is told; see [`crate::terminal::tell`].
pub const TOLD: &str = "juror::told";

/// Libraries that log messages with their content, or addresses with their passwords.
const INDISCREET: [&str; 2] = ["lapin", "amq_protocol"];

static FORMAT: OnceLock<LogFormat> = OnceLock::new();

/// Starts to log as the settings ask.
pub fn start(global: &GlobalFlags) -> Result<(), Failure> {
    let log = settings_sources::settle(global, Vec::new())?.log;
    let registry = tracing_subscriber::registry().with(filter(&log.level)?);
    let discreet = filter_fn(move |line| may_speak(line.target(), &log.level));
    match log.format {
        LogFormat::Text => {
            let color = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            let lines = fmt::layer().with_ansi(color).with_writer(io::stderr);
            registry.with(lines.with_filter(discreet)).init();
        }
        LogFormat::Json => {
            let lines = fmt::layer().json().flatten_event(true).with_span_list(false);
            registry.with(lines.with_writer(io::stderr).with_filter(discreet)).init();
        }
    }
    FORMAT.get_or_init(|| log.format);
    Ok(())
}

/// True if standard error shall hold nothing but JSON.
pub fn is_json() -> bool {
    FORMAT.get() == Some(&LogFormat::Json)
}

/// The user's filter, which never silences what the user is told.
fn filter(level: &str) -> Result<EnvFilter, Failure> {
    let filter = EnvFilter::try_new(level).map_err(|error| {
        Failure::usage(format!("setting log.level is {level:?}, which is no filter: {error}"))
    })?;
    let told = format!("{TOLD}=info").parse().map_err(Failure::error)?;
    Ok(filter.add_directive(told))
}

/// An indiscreet library is silent, unless the user's filter names it: what its errors mean is told
/// by whoever uses it, in plain words.
fn may_speak(target: &str, filter: &str) -> bool {
    let library = INDISCREET.iter().find(|library| target.starts_with(**library));
    let is_named = |library: &str| filter.split(',').any(|part| part.trim().starts_with(library));
    library.is_none_or(|library| is_named(library))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_logs_what_it_carries_is_silent_unless_it_is_named() {
        for (filter, may) in [
            ("trace", false),
            ("info,juror_ledger=trace", false),
            ("info, lapin::channels=debug", true),
            ("lapin=debug", true),
        ] {
            assert_eq!(may_speak("lapin::returned_messages", filter), may, "{filter}");
        }
        assert!(may_speak("juror_worker::telemetry", "trace"));
        assert!(!may_speak("amq_protocol_tcp", "trace,lapin=trace"));
    }

    #[test]
    fn a_filter_that_is_none_is_named() {
        let failure = filter("juror_worker=loud").unwrap_err();
        assert!(failure.to_string().contains("juror_worker=loud"), "{failure}");
        assert!(filter("off").is_ok());
    }
}
