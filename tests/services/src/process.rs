//! Starting servers that end with their test.

use std::net::{Ipv4Addr, TcpListener};

/// Supervisor script: runs the command line after it until its own input ends, which also happens
/// when the test process dies, and then kills the process group that it leads. It closes its
/// output, which therefore ends with the server.
pub(crate) const KEEPER: &str = r#""$0" "$@" & exec >&- 2>&-; read -r _; kill -KILL 0"#;

/// Unused port of 127.0.0.1.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("its address").port()
}
