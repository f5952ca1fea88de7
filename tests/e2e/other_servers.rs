//! Servers of other makers, installed from their registries on first use. A test is skipped, with
//! a line on standard error that says why, where its server cannot be installed.

mod litellm;
mod mocks;
mod openai_sdk;

use juror_services::other_servers::OtherServer;
use std::io::Write as _;

/// The server, unless it cannot be installed.
fn available(name: &str, server: Result<OtherServer, String>) -> Option<OtherServer> {
    server.map_err(|reason| log_skip(name, &reason)).ok()
}

/// Says that a test is skipped, past the test runner, which swallows what a passing test prints.
fn log_skip(name: &str, reason: &str) {
    let _ = writeln!(std::io::stderr(), "skipped the tests of {name}: {reason}");
}
