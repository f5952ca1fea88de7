//! Starting servers that end with their test.

use std::{
    io::{BufRead as _, BufReader, Read},
    net::{Ipv4Addr, TcpListener},
    sync::mpsc::{RecvTimeoutError, channel},
    time::{Duration, Instant},
};

/// Supervisor script: runs the command line after it until its own input ends, which also happens
/// when the test process dies, and then kills the process group that it leads. It closes its
/// output, which therefore ends with the server.
pub(crate) const KEEPER: &str = r#""$0" "$@" & exec >&- 2>&-; read -r _; kill -KILL 0"#;

/// Unused port of 127.0.0.1.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("its address").port()
}

/// Waits until a server writes a line with this text; an error has its output until then. What it
/// writes later is read and dropped, so that it never blocks.
pub(crate) fn await_line(
    output: impl Read + Send + 'static,
    text: &'static str,
    within: Duration,
) -> Result<(), String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            // The starter stops listening at the line that it waits for.
            let _ = sender.send(line);
        }
    });
    let deadline = Instant::now() + within;
    let mut before = String::new();
    loop {
        match receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) if line.contains(text) => return Ok(()),
            Ok(line) => before = format!("{before}{line}\n"),
            Err(RecvTimeoutError::Disconnected) => return Err(format!("it ended:\n{before}")),
            Err(RecvTimeoutError::Timeout) => {
                return Err(format!("it wrote no {text:?} within {within:?}:\n{before}"));
            }
        }
    }
}
