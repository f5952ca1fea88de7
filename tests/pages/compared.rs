//! Run with every section of a page: a regression from its baseline, repeats, a calibrated judge,
//! and a gate.

use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// Judges the bundled items unchanged and then two points worse, and writes the page of the latter.
pub fn page(folder: &Path) -> PathBuf {
    juror(folder, &["demo", "--evidence", "none", "--run-id", "base"], 0);
    juror(folder, &["calibrate", "base"], 0);
    let (mut simulator, url) = worse_judge(folder);
    let run = ["run", "runs/golden/manifest.jsonl", "--run-id", "head", "--enable-llm-judge"];
    let flags = ["--repeat", "2", "--baseline", "base", "--gate", "targets", "-o", "page.html"];
    juror(folder, &[&run[..], &["--base-url", &url], &flags].concat(), 100);
    simulator.kill().unwrap();
    simulator.wait().unwrap();
    folder.join("page.html")
}

pub fn worse_judge(folder: &Path) -> (Child, String) {
    let flags = ["simulate", "--listen", "127.0.0.1:0", "--bias", "visual_similarity=-2"];
    let mut simulator = command(folder, &flags).stdout(Stdio::piped()).spawn().unwrap();
    let mut url = String::new();
    BufReader::new(simulator.stdout.take().unwrap()).read_line(&mut url).unwrap();
    (simulator, url.trim().to_owned())
}

pub fn juror(folder: &Path, arguments: &[&str], code: i32) {
    let finished = command(folder, arguments).output().unwrap();
    let message = String::from_utf8_lossy(&finished.stderr);
    assert_eq!(finished.status.code(), Some(code), "{arguments:?}: {message}");
}

pub fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_juror"));
    command.args(arguments).arg("--quiet").current_dir(folder).env("OPENAI_API_KEY", "page-key");
    command
}
