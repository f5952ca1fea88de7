//! Code that attacks its renderer: each item stays within its limits, nothing leaves the machine,
//! no process remains, and the run continues.

use super::{
    card::blank,
    hostile_pages::{COMPONENTS, Expected, PAGES},
};
use crate::harness::CommandHarness;
use juror_services::install;
use serde_json::{Value, json};
use std::{
    fs, io,
    net::TcpListener,
    path::Path,
    process::{Command, Output},
};

#[test]
fn hostile_code_stays_within_its_limits_and_reaches_nothing() {
    install::ensure("/usr/bin/chromium", "chromium");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let harness = CommandHarness::new();
    write_items(&harness, &listener.local_addr().unwrap().to_string());
    harness.write("juror.toml", "[render]\ntimeout_seconds = 5\n[evidence]\ntrials = 1\n");
    let temporary = harness.path("temporary");
    fs::create_dir(&temporary).unwrap();
    let flags = ["run", "manifest.jsonl", "--evidence", "facts", "--run-id", "hostile"];
    let mut command = harness.command(&flags);
    let run = command.env("TMPDIR", &temporary).output().unwrap();
    assert!(run.status.success(), "{}", combined_output(&run));

    let results = fs::read_to_string(harness.path("runs/hostile/results.jsonl")).unwrap();
    let longest = results.lines().map(str::len).max().unwrap();
    assert!(longest < 200_000, "a result of {longest} bytes: code must not fill the journal");
    let results: Vec<Value> =
        results.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(results.len(), PAGES.len() + COMPONENTS.len());
    let unexpected: Vec<String> = results.iter().filter_map(unexpected).collect();
    assert_eq!(unexpected, [""; 0]);

    listener.set_nonblocking(true).unwrap();
    let connected = listener.accept().map(|_| ()).map_err(|error| error.kind());
    assert_eq!(connected, Err(io::ErrorKind::WouldBlock), "something reached the server");
    for process in processes_below(&temporary) {
        let waiting = ["60", "tail", "-f", "/dev/null", &format!("--pid={process}")];
        let waited = Command::new("timeout").args(waiting).status().unwrap();
        assert!(waited.success(), "{process} is left");
    }
}

fn write_items(harness: &CommandHarness, there: &str) {
    harness.write("shot.png", blank());
    let deep = format!("export default () => {};", "[".repeat(90_000));
    let pages = PAGES.iter().map(|page| ("html", page));
    let components = COMPONENTS.iter().map(|component| ("tsx", component));
    let mut lines = String::new();
    for (language, (name, _, code)) in pages.chain(components) {
        let code = code.replace("THERE", there).replace("DEEP", &deep);
        harness.write(&format!("{name}.{language}"), code);
        let line = json!({"id": name, "screenshot": "shot.png",
                          "generated_code": format!("{name}.{language}")});
        lines.push_str(&format!("{line}\n"));
    }
    harness.write("manifest.jsonl", lines);
}

/// Description of an unexpected result.
fn unexpected(result: &Value) -> Option<String> {
    let name = result["screenshot_id"].as_str().unwrap();
    let (_, expected, _) = PAGES.iter().chain(&COMPONENTS).find(|page| page.0 == name).unwrap();
    let evidence = &result["evidence"];
    let is_expected = match (expected, evidence["error"].as_str()) {
        (Expected::Renders | Expected::Either, None) => evidence["regions"].is_array(),
        (Expected::Either, Some(_)) => true,
        (Expected::Fails(reasons), Some(error)) => {
            reasons.iter().any(|reason| error.contains(reason))
        }
        (Expected::Renders, Some(_)) | (Expected::Fails(_), None) => false,
    };
    let is_scored = result["outcome"] == "scored";
    let short: String = evidence.to_string().chars().take(200).collect();
    (!is_expected || !is_scored).then(|| format!("{name}: {}: {short}", result["outcome"]))
}

/// Processes that name a path below a folder.
fn processes_below(folder: &Path) -> Vec<String> {
    let folder = folder.to_str().unwrap();
    let entries = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let entry = entry.ok()?;
        let command = fs::read(entry.path().join("cmdline")).ok()?;
        let is_below = String::from_utf8_lossy(&command).contains(folder);
        is_below.then(|| entry.file_name().to_string_lossy().into_owned())
    });
    entries.collect()
}

fn combined_output(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
