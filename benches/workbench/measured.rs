//! Runs a program and takes what it took.

use nix::sys::{
    resource::{UsageWho, getrusage},
    time::TimeValLike as _,
};
use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

/// How often memory is looked at; its high-water mark only ever rises.
const LOOK: Duration = Duration::from_millis(5);

/// What a finished program took.
pub struct Measured {
    pub wall: Duration,
    /// User and system time of all its threads.
    pub cpu: Duration,
    /// The most memory that it ever had resident, in megabytes of 10^6 bytes.
    pub peak_mb: f64,
    pub stdout: String,
}

impl Measured {
    /// Milliseconds of processor time for each of so many things.
    pub fn cpu_ms_each(&self, count: usize) -> f64 {
        self.cpu.as_secs_f64() * 1_000.0 / count as f64
    }

    /// Things in a second of wall-clock time.
    pub fn rate(&self, count: usize) -> f64 {
        count as f64 / self.wall.as_secs_f64()
    }
}

/// The real command, in this folder, with a key and with no setting from outside.
pub fn juror(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_juror"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("JUROR_") {
            command.env_remove(name);
        }
    }
    command.args(arguments).current_dir(folder).env("OPENAI_API_KEY", "bench").env("NO_COLOR", "1");
    command
}

/// Runs a program to its end. Its exit code must be one of these.
pub fn measure(command: &mut Command, exits: &[i32]) -> Measured {
    let before = children_cpu();
    let begun = Instant::now();
    let child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let status_file = format!("/proc/{}/status", child.id());
    let ended = AtomicBool::new(false);
    let (output, wall, peak_mb) = thread::scope(|scope| {
        let looking = scope.spawn(|| watch_memory(&status_file, &ended));
        let output = child.wait_with_output().unwrap();
        let wall = begun.elapsed();
        ended.store(true, Ordering::Relaxed);
        (output, wall, looking.join().unwrap())
    });
    let said = String::from_utf8_lossy(&output.stderr);
    let code = output.status.code();
    assert!(
        code.is_some_and(|code| exits.contains(&code)),
        "{command:?} ended by {code:?}:\n{said}"
    );
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    Measured { wall, cpu: children_cpu() - before, peak_mb, stdout }
}

/// Processor time of all children that have ended and been waited for.
fn children_cpu() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    let microseconds =
        usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Duration::from_micros(microseconds.unsigned_abs())
}

fn watch_memory(status_file: &str, ended: &AtomicBool) -> f64 {
    let mut kilobytes: u64 = 0;
    while !ended.load(Ordering::Relaxed) {
        let status = fs::read_to_string(status_file).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse().ok());
        kilobytes = kilobytes.max(peak.unwrap_or(0));
        thread::sleep(LOOK);
    }
    kilobytes as f64 * 1_024.0 / 1e6
}
