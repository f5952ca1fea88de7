//! Validators of the deployment files, from this machine or fetched into a test folder.

use crate::repository;
use juror_services::install;
use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// `docker compose` version 2, which needs no engine to resolve a file.
pub fn compose() -> Command {
    of_this_machine(&["docker", "compose"], "version")
        .unwrap_or_else(|| Command::new(from_pypi().join("docker-compose")))
}

/// hadolint, the linter of Dockerfiles and their shell commands.
pub fn hadolint() -> Command {
    of_this_machine(&["hadolint"], "--version")
        .unwrap_or_else(|| Command::new(from_pypi().join("hadolint")))
}

/// `promtool`, Prometheus's validator of its configuration.
pub fn promtool() -> Command {
    let unpacked = || install::unpacked("prometheus", folder()).join("usr/bin/promtool");
    of_this_machine(&["promtool"], "--version").unwrap_or_else(|| Command::new(unpacked()))
}

/// `systemd-analyze`, which validates units without a running service manager.
pub fn systemd_analyze() -> Command {
    let program = "/usr/bin/systemd-analyze";
    install::ensure(program, "systemd");
    Command::new(program)
}

/// Runs a validator and asserts that it succeeds without output.
#[track_caller]
pub fn assert_silent(command: &mut Command) {
    let output = command.output().unwrap();
    let message = [output.stdout.as_slice(), &output.stderr].concat();
    let message = String::from_utf8_lossy(&message);
    assert!(output.status.success() && message.trim().is_empty(), "{command:?}:\n{message}");
}

fn from_pypi() -> PathBuf {
    install::from_pypi(&repository("tests/deploy/file_validators.txt"), folder())
}

fn folder() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

fn of_this_machine(words: &[&str], version: &str) -> Option<Command> {
    let command = || {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]);
        command
    };
    let version_status =
        command().arg(version).stdout(Stdio::null()).stderr(Stdio::null()).status();
    version_status.is_ok_and(|status| status.success()).then(command)
}
