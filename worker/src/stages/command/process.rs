//! Runs one program to its end, with bounded time, output and processes.

use super::CommandSettings;
use juror_render::ProcessGroup;
use std::{
    io,
    process::{ExitStatus, Stdio},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    process::{Child, ChildStdin, Command},
    time::timeout,
};

/// Maximum bytes of stdout.
const MAX_OUTPUT: usize = 8 * 1024 * 1024;
/// Number of bytes of the end of stderr that are kept, and of characters of it in an error.
const ERROR_TAIL: usize = 64 * 1024;
const SHOWN_ERROR_TAIL: usize = 2000;

/// End of a program.
#[derive(Debug)]
pub(super) struct ProcessEnd {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr_tail: String,
}

/// Reason why a program did not run to its end.
#[derive(Debug, thiserror::Error)]
pub(super) enum ProcessError {
    #[error("cannot be started: {0}")]
    NotStarted(io::Error),
    #[error("took longer than {0:?} and was killed")]
    TimedOut(Duration),
    #[error("wrote more than 8 MB to its standard output and was killed")]
    TooMuchOutput,
    #[error("its input or output pipe failed: {0}")]
    Pipe(#[from] io::Error),
}

/// Runs a program with this stdin. Dropping the future kills it and its child processes.
pub(super) async fn run(
    settings: &CommandSettings,
    arguments: &[String],
    input: &[u8],
) -> Result<ProcessEnd, ProcessError> {
    let mut command = Command::new(&settings.program);
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    // A separate process group, so that its children can be ended with it, and so that Ctrl-C at
    // the terminal reaches only juror, which drains.
    command.process_group(0);
    let mut child = command.spawn().map_err(ProcessError::NotStarted)?;
    let mut group = KilledGroup(Some(ProcessGroup::for_child(&child)));
    let finished = timeout(settings.timeout, exchange(&mut child, input)).await;
    let finished = finished.unwrap_or(Err(ProcessError::TimedOut(settings.timeout)));
    if finished.is_ok() {
        group.0 = None;
    }
    finished
}

/// A process group that is killed when dropped; none once its leader has ended by itself and closed
/// its pipes.
struct KilledGroup(Option<ProcessGroup>);

impl Drop for KilledGroup {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            group.kill();
        }
    }
}

async fn exchange(child: &mut Child, input: &[u8]) -> Result<ProcessEnd, ProcessError> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    // The first error cancels the other two.
    let ((), stdout, stderr_tail) =
        tokio::try_join!(write_all(stdin, input), read_bounded(stdout), read_tail(stderr))?;
    let status = child.wait().await?;
    Ok(ProcessEnd { status, stdout, stderr_tail })
}

async fn write_all(stdin: Option<ChildStdin>, input: &[u8]) -> Result<(), ProcessError> {
    let Some(mut stdin) = stdin else { return Ok(()) };
    match stdin.write_all(input).await {
        // A program may ignore its stdin.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

async fn read_bounded(output: Option<impl AsyncRead + Unpin>) -> Result<Vec<u8>, ProcessError> {
    let mut content = Vec::new();
    if let Some(output) = output {
        output.take(MAX_OUTPUT as u64 + 1).read_to_end(&mut content).await?;
    }
    if content.len() > MAX_OUTPUT { Err(ProcessError::TooMuchOutput) } else { Ok(content) }
}

async fn read_tail(output: Option<impl AsyncRead + Unpin>) -> Result<String, ProcessError> {
    let mut tail = Vec::new();
    let Some(mut output) = output else { return Ok(String::new()) };
    while output.read_buf(&mut tail).await? > 0 {
        if tail.len() > 2 * ERROR_TAIL {
            tail.drain(..tail.len() - ERROR_TAIL);
        }
    }
    let shown = tail.len().saturating_sub(SHOWN_ERROR_TAIL);
    let shown = tail.get(shown..).unwrap_or_default();
    Ok(String::from_utf8_lossy(shown).trim().to_owned())
}
