//! Flags by which the next command finds the same run.

use crate::args::{FleetFlags, GlobalFlags};

/// The flags that name settings file and folders.
pub fn of_this_machine(global: &GlobalFlags) -> String {
    let flags = [
        ("--config", &global.config),
        ("--runs-dir", &global.runs_dir),
        ("--state", &global.state),
    ];
    flags
        .iter()
        .filter_map(|(flag, path)| Some(format!(" {flag} {}", path.as_ref()?.display())))
        .collect()
}

/// Those and the fleet's namespace. Addresses are not among them: they may hold passwords.
pub fn of_fleet(global: &GlobalFlags, flags: &FleetFlags) -> String {
    let namespace = flags.namespace.as_ref().map(|name| format!(" --namespace {name}"));
    of_this_machine(global) + &namespace.unwrap_or_default()
}
