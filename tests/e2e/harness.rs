//! Resources of the end-to-end tests: the real command, a simulator, and datasets.

mod api_server;
mod dataset;
mod fleet_harness;
mod manual;
mod process;
pub mod proxy;
mod recorder;
mod simulator;
mod simulator_process;
mod tls_front;

pub use api_server::ApiServer;
pub use dataset::{png, write_items, write_items_numbered};
pub use fleet_harness::{FleetHarness, FleetServers, LIVENESS_INTERVAL, Member, Size};
pub use manual::Manual;
pub use process::{KillTimer, RunningCommand, pid};
pub use recorder::{Recorder, completion, semantic_verdict, verdict};
pub use simulator::{CallGate, TestSimulator};
pub use simulator_process::SimulatorProcess;
pub use tls_front::TlsFront;

use serde_json::Value;
use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};
use tempfile::TempDir;

/// Temporary folder in which a test runs the command.
pub struct CommandHarness {
    folder: TempDir,
}

/// Result of a finished command.
pub struct Finished {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl CommandHarness {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// Folder with a dataset of this many judgeable items.
    pub fn with_items(count: u32) -> Self {
        let harness = Self::new();
        write_items(&harness, count);
        harness
    }

    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// Writes an executable file.
    pub fn write_program(&self, name: &str, script: &str) -> PathBuf {
        let path = self.write(name, script);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// Copies the golden set into a folder of this one.
    pub fn copy_golden_set(&self, folder: &str) {
        let mut copy = Command::new("cp");
        copy.args(["-r", &repository("examples/golden/.")]).arg(self.path(folder));
        assert!(copy.status().unwrap().success());
    }

    /// Command in this folder, with a key and without settings of the environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.program(env!("CARGO_BIN_EXE_juror"));
        command.args(arguments);
        command
    }

    /// Another program in the same environment.
    pub fn program(&self, name: &str) -> Command {
        let mut command = Command::new(name);
        for (name, _) in std::env::vars_os() {
            let shown = name.to_string_lossy();
            let is_proxy = shown.to_ascii_lowercase().ends_with("_proxy");
            if shown.starts_with("JUROR_") || shown == "OPENAI_BASE_URL" || is_proxy {
                command.env_remove(name);
            }
        }
        command
            .current_dir(self.folder.path())
            .env("OPENAI_API_KEY", "test-key")
            .env("NO_COLOR", "1")
            .stdin(Stdio::null());
        command
    }

    /// Runs the command to its end.
    pub fn juror(&self, arguments: &[&str]) -> Finished {
        self.start(arguments).finish()
    }

    /// Starts the command without waiting.
    pub fn start(&self, arguments: &[&str]) -> RunningCommand {
        RunningCommand::start(self.command(arguments))
    }

    /// Starts a run of `manifest.jsonl` that this simulator judges.
    pub fn start_run(&self, simulator: &TestSimulator, run: &str, more: &[&str]) -> RunningCommand {
        RunningCommand::start(self.run_command(simulator, run, more))
    }

    /// Runs `manifest.jsonl` to its end, judged by this simulator.
    pub fn judge_run(&self, simulator: &TestSimulator, run: &str, more: &[&str]) -> Finished {
        self.start_run(simulator, run, more).finish()
    }

    /// Resumes a run by its name, with further flags.
    pub fn resume(&self, run: &str, more: &[&str]) -> Finished {
        self.juror(&[&["run", "--resume", run], more].concat())
    }

    fn run_command(&self, simulator: &TestSimulator, run: &str, more: &[&str]) -> Command {
        let url = simulator.base_url();
        let flags = ["run", "manifest.jsonl", "--enable-llm-judge", "--base-url", &url];
        self.command(&[&flags, ["--run-id", run].as_slice(), more].concat())
    }

    /// Runs `juror run` as run `first` with this base URL of the judge.
    pub fn judge(&self, base_url: &str, dataset: &str, flags: &[&str]) -> Finished {
        RunningCommand::start(self.judging(base_url, dataset, flags)).finish()
    }

    /// Command of [`Self::judge`].
    pub fn judging(&self, base_url: &str, dataset: &str, flags: &[&str]) -> Command {
        let run = ["run", dataset, "--run-id", "first", "--enable-llm-judge", "--base-url"];
        self.command(&[&run[..], &[base_url], flags].concat())
    }

    /// Runs `manifest.jsonl` with one call at a time and verdicts of these scores.
    pub fn scripted_run(&self, run: &str, scores: &[u64], flags: &[&str]) -> Finished {
        let judge = scripted_judge(scores);
        let url = judge.base_url();
        let fixed = ["run", "manifest.jsonl", "--run-id", run, "--enable-llm-judge", "-j", "1"];
        self.juror(&[&fixed[..], &["--base-url", &url, "--no-cache"], flags].concat())
    }

    /// Content of `report.json` of a run.
    pub fn report(&self, run: &str) -> Value {
        let path = self.path("runs").join(run).join("report.json");
        serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
    }

    /// Journal line of an item; the last one of several rounds.
    pub fn result(&self, run: &str, item: &str) -> Value {
        let mut journal = self.journal(run);
        journal.retain(|line| line["screenshot_id"] == item);
        journal.pop().unwrap()
    }

    /// Every line of a run's journal.
    pub fn journal(&self, run: &str) -> Vec<Value> {
        let path = self.path("runs").join(run).join("results.jsonl");
        let text = fs::read_to_string(path).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl From<Output> for Finished {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Finished {
    /// Asserts the exit code; a failure shows the output.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// JSON on standard output.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap()
    }

    /// Asserts that standard error contains each of these.
    #[track_caller]
    pub fn stderr_contains(self, texts: &[&str]) -> Self {
        for text in texts {
            assert!(self.stderr.contains(text), "no {text:?} in:\n{}", self.stderr);
        }
        self
    }

    /// Asserts that standard output contains each of these.
    #[track_caller]
    pub fn stdout_contains(self, texts: &[&str]) -> Self {
        for text in texts {
            assert!(self.stdout.contains(text), "no {text:?} in:\n{}", self.stdout);
        }
        self
    }
}

/// Judge whose verdicts have these scores in turn.
pub fn scripted_judge(scores: &[u64]) -> Recorder {
    Recorder::start(scores.iter().map(|score| completion(&verdict(*score), 1_000, 50)).collect())
}

/// Path of a file of this repository.
pub fn repository(path: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path).to_string_lossy().into_owned()
}

/// Amount of a report in pico-dollars.
pub fn pico(amount: &Value) -> i64 {
    amount.as_str().unwrap().parse::<juror_types::usage::Money>().unwrap().pico()
}
