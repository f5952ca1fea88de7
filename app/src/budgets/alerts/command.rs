//! An alert by a command.

use juror_types::error_chain::with_causes;
use std::process::Stdio;
use tokio::{io::AsyncWriteExt as _, process::Command};

/// Runs a command with the message on its standard input; its output is ignored. Dropping the
/// future kills it.
pub async fn run(words: &[String], message: &str) -> Result<(), String> {
    let Some((program, arguments)) = words.split_first() else { return Ok(()) };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    // Ctrl-C at the terminal does not reach the command.
    command.process_group(0);
    let mut child = command
        .spawn()
        .map_err(|error| format!("{program} cannot be started: {}", with_causes(&error)))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program need not read its input.
        let _ = stdin.write_all(message.as_bytes()).await;
    }
    match child.wait().await {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{program} ended with {status}")),
        Err(error) => Err(format!("{program} cannot be waited for: {error}")),
    }
}
