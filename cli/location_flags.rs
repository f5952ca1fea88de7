//! Flags with which the next command finds the same run.

use crate::args::{FleetFlags, GlobalFlags};

/// Flags of the settings file and the folders.
pub fn for_this_machine(global: &GlobalFlags) -> String {
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

/// Flags of the settings file, the folders and the fleet's namespace; no addresses, since they may
/// hold passwords.
pub fn for_fleet(global: &GlobalFlags, flags: &FleetFlags) -> String {
    let namespace = flags.namespace.as_ref().map(|name| format!(" --namespace {name}"));
    for_this_machine(global) + &namespace.unwrap_or_default()
}
