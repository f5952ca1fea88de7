//! Third-party servers, installed from their registries on first use. A test is skipped with a
//! reason on standard error if its server cannot be installed.

mod litellm;
mod mocks;
mod openai_sdk;

use juror_services::other_servers::OtherServer;
use std::io::Write as _;

/// Server; `None` if it cannot be installed.
fn available(name: &str, server: Result<OtherServer, String>) -> Option<OtherServer> {
    server.map_err(|reason| log_skip(name, &reason)).ok()
}

/// Reports a skipped test on the process's standard error, since the test runner captures the
/// output of passing tests.
fn log_skip(name: &str, reason: &str) {
    let _ = writeln!(std::io::stderr(), "skipped the tests of {name}: {reason}");
}
