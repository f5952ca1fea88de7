//! Servers of other makers, installed from their registries on first use. A story is skipped, with
//! a line on standard error that says why, where its server cannot be installed.

mod litellm;
mod mocks;

use juror_services::other_servers::OtherServer;
use std::io::Write as _;

/// The server, unless it cannot be installed.
fn available(name: &str, server: Result<OtherServer, String>) -> Option<OtherServer> {
    let log = |reason: String| {
        // Past the test runner, which swallows what a passing test prints.
        let _ = writeln!(std::io::stderr(), "skipped the story of {name}: {reason}");
    };
    server.map_err(log).ok()
}
