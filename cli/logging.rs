//! The log, on standard error.

use crate::{args::GlobalFlags, exit::Failure, layers};
use std::io::{self, IsTerminal as _};
use tracing_subscriber::EnvFilter;

/// Starts to log as the settings ask.
pub fn start(global: &GlobalFlags) -> Result<(), Failure> {
    let settings = layers::settle(global, Vec::new())?;
    let level = &settings.log.level;
    let filter = EnvFilter::try_new(level).map_err(|error| {
        Failure::usage(format!("setting log.level is {level:?}, which is no filter: {error}"))
    })?;
    let colour = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(colour)
        .with_writer(io::stderr)
        .init();
    Ok(())
}
