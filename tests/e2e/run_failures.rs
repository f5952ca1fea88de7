//! Failures during a run: of items, the disk, the ledger, another process.

use crate::{
    errors::check_costs,
    harness::{CommandHarness, Finished, TestSimulator, pico, png},
};
use juror_simulator::Fault;
use serde_json::json;
use std::fs;

#[test]
fn zero_budget_judges_nothing_and_reports_it() {
    let simulator = TestSimulator::new();
    let harness = CommandHarness::with_items(5);
    let flags = ["--budget-usd", "0"];
    let run = harness.judge(&simulator.base_url(), "manifest.jsonl", &flags).exits(3);
    run.stdout_contains(&["0 of 5 scored (0%), 5 skipped", "has spent 0.00 of 0.00"])
        .stderr_contains(&["raise it and resume with: juror run --resume first"]);
    for result in harness.journal("first") {
        assert_eq!(
            (&result["outcome"], &result["error"]["kind"]),
            (&json!("skipped"), &json!("budget"))
        );
        assert_eq!(
            (&result["semantic"], &result["pipeline_success"]),
            (&json!(null), &json!(null))
        );
    }
    assert_eq!(simulator.requests(), 0);

    harness.juror(&["run", "--resume", "first", "--budget-usd", "1"]).exits(0);
    assert_eq!(harness.report("first")["coverage"]["scored"], 5);
    assert_eq!(pico(&harness.report("first")["cost"]["total_usd"]), simulator.bill());
}

#[test]
fn invalid_image_fails_alone() {
    let simulator = TestSimulator::new();
    let harness = CommandHarness::new();
    let sound = png(1, 64, 32);
    harness.write("shots/cut.png", &sound[..60]);
    harness.write("shots/text.png", "no picture");
    harness.write("shots/page.png", "<!doctype html><title>404</title>");
    harness.write("shots/sound.png", sound);
    let mut lines = String::new();
    for (id, sha256) in
        [("cut", ""), ("text", ""), ("page", ""), ("sound", ""), ("other", &*"0".repeat(64))]
    {
        let shot = if id == "other" { "sound" } else { id };
        let mut line = json!({"id": id, "screenshot": format!("shots/{shot}.png"), "generated_code": "<p>a</p>"});
        if !sha256.is_empty() {
            line["sha256"] = sha256.into();
        }
        lines.push_str(&format!("{line}\n"));
    }
    harness.write("manifest.jsonl", lines);
    let run = harness.judge(&simulator.base_url(), "manifest.jsonl", &[]).exits(3);
    run.stdout_contains(&["1 of 5 scored (20%), 4 failed", "failed (image)"]);
    for (id, message) in [
        ("cut", "shots/cut.png: this PNG file cannot be read: the file ends early"),
        ("text", "shots/text.png: this is an unknown format: use a PNG"),
        ("page", "shots/page.png: this is an HTML page"),
        ("other", "restore the file or correct the manifest"),
    ] {
        let error = &harness.result("first", id)["error"];
        assert_eq!(error["kind"], "image");
        assert!(error["message"].as_str().unwrap().contains(message), "{error}");
    }
    assert_eq!(simulator.requests(), 1);
    assert_eq!(check_costs(&harness, &simulator), 0);

    let free = harness.juror(&["run", "manifest.jsonl", "--run-id", "free"]).exits(3);
    free.stdout_contains(&["1 of 5 scored (20%), 4 failed", "failed (image)"])
        .stderr_contains(&["correct what failed, then resume with: juror run --resume free"]);
}

#[test]
fn run_locked_by_another_process_is_refused() {
    let simulator = TestSimulator::always(Fault::Hang);
    let harness = CommandHarness::with_items(1);
    let url = simulator.base_url();
    let run = ["run", "manifest.jsonl", "--run-id", "first", "--enable-llm-judge"];
    let holder = harness.start(&[&run[..], &["--base-url", &url]].concat());
    simulator.await_requests(1);
    let second = harness.juror(&["run", "--resume", "first"]).exits(1);
    second.stderr_contains(&[
        "runs/first is in use by another juror process",
        "wait until it ends or stop it",
    ]);
    assert_eq!(simulator.requests(), 1);
    holder.kill();
}

#[test]
fn unusable_folders_are_reported() {
    let harness = CommandHarness::with_items(1);
    harness.write("taken", "a file");
    for flag in ["--runs-dir", "--state"] {
        let run = harness.juror(&["run", "manifest.jsonl", flag, "taken"]).exits(1);
        run.stderr_contains(&[
            "folder taken cannot be created",
            "choose another one with --runs-dir or --state",
        ]);
    }
    assert!(!harness.path("runs").exists());
}

#[test]
fn unreadable_ledger_stops_the_run_before_it_starts() {
    let simulator = TestSimulator::new();
    let harness = CommandHarness::with_items(2);
    harness.write("runs/juror.db", "this was never a database, ".repeat(20));
    let run = harness.judge(&simulator.base_url(), "manifest.jsonl", &[]).exits(1);
    run.stderr_contains(&[
        "runs/juror.db is damaged or not a database",
        "restore it from a backup, or move it",
    ]);
    assert!(!harness.path("runs/first").exists());

    fs::remove_file(harness.path("runs/juror.db")).unwrap();
    harness.juror(&["cache", "stats"]).exits(0);
    // Schema version of a newer Juror in SQLite's header.
    let mut file = fs::read(harness.path("runs/juror.db")).unwrap();
    file[60..64].copy_from_slice(&99_u32.to_be_bytes());
    harness.write("runs/juror.db", file);
    let run = harness.judge(&simulator.base_url(), "manifest.jsonl", &[]).exits(1);
    run.stderr_contains(&["runs/juror.db", "99"]);
    assert!(!harness.path("runs/first").exists());
    assert_eq!(simulator.requests(), 0);
}

#[test]
fn run_of_a_newer_version_is_left_unchanged() {
    let harness = CommandHarness::with_items(2);
    for run in ["first", "second"] {
        harness.juror(&["run", "manifest.jsonl", "--run-id", run]).exits(0);
    }
    let record = fs::read_to_string(harness.path("runs/first/run.json")).unwrap();
    let newer = record.replacen("\"schema\": 1", "\"schema\": 2", 1);
    assert_ne!(record, newer);
    harness.write("runs/first/run.json", newer);
    for command in [&["report", "first"][..], &["run", "--resume", "first"], &["runs"]] {
        let refused = harness.juror(command).exits(1);
        refused.stderr_contains(&["run.json", "schema 2, but this program reads schema 1"]);
    }
    harness.juror(&["runs"]).exits(1).stdout_contains(&["second"]);
    harness.write("runs/first/run.json", record);
    let journal = fs::read_to_string(harness.path("runs/first/results.jsonl")).unwrap();
    let broken = journal.replacen("\"outcome\"", "\"outcom\"", 1);
    harness.write("runs/first/results.jsonl", broken);
    harness
        .juror(&["report", "first"])
        .exits(1)
        .stderr_contains(&["results.jsonl, line 1: damaged record"]);
}

/// A limit on file sizes simulates a full disk: each write beyond it fails.
#[test]
fn full_disk_ends_the_run_and_loses_no_billed_result() {
    let simulator = TestSimulator::new();
    let harness = CommandHarness::with_items(150);
    let juror = env!("CARGO_BIN_EXE_juror");
    let url = simulator.base_url();
    // The unit is 512 bytes in some shells and 1,024 in others.
    let script = format!(
        "trap '' XFSZ; ulimit -f 300; exec '{juror}' run manifest.jsonl --run-id first \
         --enable-llm-judge --base-url {url} -j 4"
    );
    let mut full = std::process::Command::new("sh");
    full.args(["-c", &script]).current_dir(harness.path(""));
    full.env("OPENAI_API_KEY", "test-key").env_remove("JUROR_CONFIG");
    let stopped = Finished::from(full.output().unwrap()).exits(1);
    assert!(stopped.stderr.contains("runs/"), "the file is named: {}", stopped.stderr);
    assert!(stopped.stderr.contains("space"), "and the remedy: {}", stopped.stderr);
    let calls = simulator.requests();
    assert!((1..150).contains(&calls), "it stopped in the middle, and not after {calls} calls");

    let resumed = harness.juror(&["run", "--resume", "first", "--budget-usd", "5"]).exits(0);
    resumed.stdout_contains(&["150 of 150 scored"]);
    let again = simulator.requests() - 150;
    assert!(again <= 4, "at most the calls in flight are repeated: {again}");
    check_costs(&harness, &simulator);
}

/// `/dev/full` fails every write, as a full disk does.
#[cfg(target_os = "linux")]
#[test]
fn unwritable_output_is_reported_and_report_is_kept() {
    let harness = CommandHarness::with_items(1);
    let mut run = harness.command(&["run", "manifest.jsonl", "--run-id", "first"]);
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let run = Finished::from(run.stdout(full).output().unwrap()).exits(1);
    run.stderr_contains(&["standard output cannot be written", "No space left"]);
    assert_eq!(harness.report("first")["coverage"]["scored"], 1);
}

#[test]
fn link_out_of_the_folder_is_followed_only_if_allowed() {
    let simulator = TestSimulator::new();
    let (harness, elsewhere) = (CommandHarness::new(), CommandHarness::new());
    let secret = elsewhere.write("secret.png", png(1, 8, 8));
    std::os::unix::fs::symlink(&secret, harness.path("link.png")).unwrap();
    let line = json!({"id": "a", "screenshot": "link.png", "generated_code": "<p>a</p>"});
    harness.write("manifest.jsonl", line.to_string());
    let refused = harness.judge(&simulator.base_url(), "manifest.jsonl", &[]).exits(2);
    refused.stderr_contains(&["line 1: field \"screenshot\"", "is outside the manifest's folder"]);
    assert_eq!(simulator.requests(), 0);

    let line = json!({"id": "a", "screenshot": secret, "generated_code": "<p>a</p>"});
    harness.write("manifest.jsonl", line.to_string());
    let root = elsewhere.path("").to_string_lossy().into_owned();
    let flags = ["--run-id", "second", "--enable-llm-judge", "--base-url", &simulator.base_url()];
    let run = ["run", "manifest.jsonl", "--data-root", &root];
    harness.juror(&[&run[..], &flags].concat()).exits(0);
    assert_eq!(simulator.requests(), 1);
}
