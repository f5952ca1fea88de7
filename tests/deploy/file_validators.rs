//! The programs that judge the files: those of this machine, or ones fetched into a folder of the
//! tests' own.

use crate::repository;
use juror_services::install;
use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// `docker compose` of the second kind, which needs no engine to read a file.
pub fn compose() -> Command {
    of_this_machine(&["docker", "compose"], "version")
        .unwrap_or_else(|| Command::new(from_pypi().join("docker-compose")))
}

/// The linter of Dockerfiles and of the shell in them.
pub fn hadolint() -> Command {
    of_this_machine(&["hadolint"], "--version")
        .unwrap_or_else(|| Command::new(from_pypi().join("hadolint")))
}

/// Prometheus' own reader of its configuration.
pub fn promtool() -> Command {
    let unpacked = || install::unpacked("prometheus", folder()).join("usr/bin/promtool");
    of_this_machine(&["promtool"], "--version").unwrap_or_else(|| Command::new(unpacked()))
}

/// Reads units as the service manager does, without one that runs.
pub fn systemd_analyze() -> Command {
    let program = "/usr/bin/systemd-analyze";
    install::ensure(program, "systemd");
    Command::new(program)
}

/// Runs a checker, and shows what it says unless it is content and silent.
#[track_caller]
pub fn says_nothing(command: &mut Command) {
    let output = command.output().unwrap();
    let said = [output.stdout.as_slice(), &output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success() && said.trim().is_empty(), "{command:?}:\n{said}");
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
    let asked = command().arg(version).stdout(Stdio::null()).stderr(Stdio::null()).status();
    asked.is_ok_and(|status| status.success()).then(command)
}
