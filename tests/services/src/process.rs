//! Starting servers that end with their test.

use std::net::{Ipv4Addr, TcpListener};

/// Runs the command line after it, and keeps that server until its own input ends, which it also
/// does when the test's process dies, and then kills the whole group that it leads. It lets go of
/// the output, which therefore ends with the server.
pub(crate) const KEEPER: &str = r#""$0" "$@" & exec >&- 2>&-; read -r _; kill -KILL 0"#;

/// A port of 127.0.0.1 that nobody listens on.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("its address").port()
}
