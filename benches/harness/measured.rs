//! Measured execution of programs.

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

/// Interval of reading the memory; its high-water mark only rises.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Cost of a finished program.
pub struct Measured {
    pub began: Instant,
    pub wall: Duration,
    /// User and system time of all its threads.
    pub cpu: Duration,
    /// Peak resident memory in megabytes of 10^6 bytes.
    pub peak_mb: f64,
    pub stdout: String,
}

impl Measured {
    /// Milliseconds of processor time per item of this many.
    pub fn cpu_ms_each(&self, count: usize) -> f64 {
        self.cpu.as_secs_f64() * 1_000.0 / count as f64
    }

    /// Items per second of wall-clock time.
    pub fn rate(&self, count: usize) -> f64 {
        count as f64 / self.wall.as_secs_f64()
    }
}

/// Command in this folder, with a key and without settings of the environment.
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
    measure_beside(command, exits, |_| ()).0
}

/// Runs a program to its end and calls a function with its process id meanwhile.
pub fn measure_beside<T>(
    command: &mut Command,
    exits: &[i32],
    beside: impl FnOnce(u32) -> T,
) -> (Measured, T) {
    let before = cpu_of_children();
    let began = Instant::now();
    let child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let process = child.id();
    let ended = AtomicBool::new(false);
    let (output, wall, peak_mb, done) = thread::scope(|scope| {
        let looking = scope.spawn(|| watch_memory(process, &ended));
        let waiting = scope.spawn(|| (child.wait_with_output().unwrap(), began.elapsed()));
        let done = beside(process);
        let (output, wall) = waiting.join().unwrap();
        ended.store(true, Ordering::Relaxed);
        (output, wall, looking.join().unwrap(), done)
    });
    let message = String::from_utf8_lossy(&output.stderr);
    let code = output.status.code();
    assert!(
        code.is_some_and(|code| exits.contains(&code)),
        "{command:?} ended by {code:?}:\n{message}"
    );
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    (Measured { began, wall, cpu: cpu_of_children() - before, peak_mb, stdout }, done)
}

/// Processor time of all children that have ended and been waited for.
pub fn cpu_of_children() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    let microseconds =
        usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Duration::from_micros(microseconds.unsigned_abs())
}

/// Peak resident memory of a running process; 0 when it has ended.
pub fn peak_mb(process: u32) -> f64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes: Option<f64> =
        peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse().ok());
    kilobytes.unwrap_or(0.0) * 1_024.0 / 1e6
}

fn watch_memory(process: u32, ended: &AtomicBool) -> f64 {
    let mut peak = 0.0_f64;
    while !ended.load(Ordering::Relaxed) {
        peak = peak.max(peak_mb(process));
        thread::sleep(POLL_INTERVAL);
    }
    peak
}
