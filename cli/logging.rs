//! The log, on standard error.

use crate::{args::GlobalFlags, exit::Failure, layers};
use tracing_subscriber::EnvFilter;

/// Starts to log as the settings ask.
pub fn start(global: &GlobalFlags) -> Result<(), Failure> {
    let settings = layers::settle(global, Vec::new())?;
    let level = &settings.log.level;
    let filter = EnvFilter::try_new(level).map_err(|error| {
        Failure::usage(format!("setting log.level is {level:?}, which is no filter: {error}"))
    })?;
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    Ok(())
}
