//! Installing what is missing, as root on Debian and its kin.

use std::process::Command;

/// Installs a package unless its program is there.
pub(crate) fn ensure(program: &str, package: &str) {
    if std::path::Path::new(program).exists() {
        return;
    }
    // A service that comes up by itself would take the usual port; the tests start their own.
    let installed = Command::new("apt-get")
        .args(["install", "--yes", "--no-install-recommends", package])
        .envs([("DEBIAN_FRONTEND", "noninteractive"), ("RUNLEVEL", "1")])
        .output()
        .unwrap_or_else(|error| panic!("apt-get cannot be run to install {package}: {error}"));
    let said = String::from_utf8_lossy(&installed.stderr);
    assert!(installed.status.success(), "apt-get install {package}, which takes root: {said}");
}
