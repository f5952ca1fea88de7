//! Checks of `deploy/`: its files are validated by their programs and compared with the command.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may break off"
)]

mod command_lines;
mod composed;
mod dashboard;
mod file_validators;
mod image;
mod prometheus;
mod units;

use juror_app::settings::{Layer, Settings};
use std::{collections::BTreeMap, path::PathBuf};

/// A file of this repository.
fn repository(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn text_of(path: &str) -> String {
    std::fs::read_to_string(repository(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Settings of a process with this environment over `deploy/juror.toml`, if it reads that file;
/// panics at a variable or a key that is no setting, as the command ends with 2.
fn settings_of(environment: &BTreeMap<String, String>) -> Settings {
    let mut layers = Vec::new();
    if environment.contains_key("JUROR_CONFIG") {
        layers.push(Layer::parse(&text_of("deploy/juror.toml"), "deploy/juror.toml").unwrap());
    }
    let variables = environment.iter().filter(|(name, _)| name.starts_with("JUROR_"));
    layers.extend(
        variables
            .filter(|(name, _)| *name != "JUROR_CONFIG")
            .map(|(name, value)| Layer::from_variable(name, value).unwrap()),
    );
    Settings::resolve(&layers).unwrap()
}
