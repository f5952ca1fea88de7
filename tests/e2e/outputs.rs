//! Outputs never overwrite inputs of the command or files that a run keeps.

use crate::harness::{CommandHarness, TestSimulator, png};
use serde_json::json;
use std::{fs, path::Path};

/// One valid item whose code and tokens are separate files.
fn dataset() -> CommandHarness {
    let harness = CommandHarness::new();
    harness.write("shot.png", png(1, 8, 8));
    harness.write("code.html", "<p>Text</p>");
    harness.write("tokens.json", r#"{"color":"red"}"#);
    let line = json!({
        "id": "a", "screenshot": "shot.png", "generated_code": "code.html",
        "expected_tokens": "tokens.json", "extracted_tokens": "tokens.json",
    });
    harness.write("manifest.jsonl", format!("{line}\n"));
    harness
}

/// Every file below a folder with its content.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(contents(&path)),
            false => found.push((path.display().to_string(), fs::read(&path).unwrap())),
        }
    }
    found.sort();
    found
}

#[track_caller]
fn refused(harness: &CommandHarness, arguments: &[&str], message: &[&str]) {
    let before = contents(&harness.path(""));
    let finished = harness.juror(arguments);
    assert_eq!(finished.code, 2, "{arguments:?}: {}{}", finished.stdout, finished.stderr);
    finished.stderr_contains(message);
    assert!(contents(&harness.path("")) == before, "{arguments:?} changed a file");
}

#[test]
fn run_overwrites_no_input_with_any_name() {
    let harness = dataset();
    let settings = "[run]\ngate = \"gate.md\"\nrubric = \"rubric.md\"\n\
                    [render]\nstylesheet = \"page.html\"\n\
                    [judge.headers]\nx-team = { file = \"header.md\" }\n";
    harness.write("own.json", settings);
    harness.write("page.html", "body { margin: 0 }");
    harness.write("header.md", "design");
    harness.write("gate.md", "[[require]]\nmetric = \"coverage\"\nabove = 0.5\n");
    let semantic = fs::read_to_string(crate::harness::repository("config/rubrics/semantic.toml"));
    harness.write("rubric.md", semantic.unwrap());
    fs::create_dir(harness.path("sub")).unwrap();
    let link = |from: &str, to: &str| {
        std::os::unix::fs::symlink(harness.path(from), harness.path(to)).unwrap();
    };
    link("manifest.jsonl", "link.jsonl");
    link("sub", "other");
    fs::hard_link(harness.path("manifest.jsonl"), harness.path("hard.jsonl")).unwrap();
    fs::hard_link(harness.path("shot.png"), harness.path("shot.json")).unwrap();
    for output in [
        "manifest.jsonl",
        "./sub/../manifest.jsonl",
        "other/../manifest.jsonl",
        "link.jsonl",
        "hard.jsonl",
    ] {
        let run = ["run", "manifest.jsonl", "-o", output];
        refused(&harness, &run, &[output, "is the dataset", "choose another output"]);
        refused(&harness, &[&run[..], &["--dry-run"]].concat(), &["is the dataset"]);
    }
    for (output, field) in [
        ("code.html", "generated_code"),
        ("tokens.json", "expected_tokens"),
        ("shot.json", "screenshot"),
    ] {
        let message = ["manifest.jsonl, line 1", field, "also an output of this command"];
        refused(&harness, &["run", "manifest.jsonl", "-o", output], &message);
    }
    for (output, role) in [
        ("own.json", "is the settings file"),
        ("gate.md", "is the gate file"),
        ("rubric.md", "is the rubric"),
        ("page.html", "is render.stylesheet"),
        ("header.md", "is judge.headers"),
    ] {
        refused(&harness, &["run", "manifest.jsonl", "-c", "own.json", "-o", output], &[role]);
    }
    fs::create_dir(harness.path("folder.json")).unwrap();
    refused(&harness, &["run", "manifest.jsonl", "-o", "folder.json"], &["is not a file"]);
    let outputs = ["-o", "new.jsonl", "-o", "sub/new.html"];
    let run = ["run", "manifest.jsonl", "--run-id", "r"];
    harness.juror(&[&run[..], &outputs].concat()).exits(0);
    harness.juror(&[&run[..], &outputs].concat()).exits(0);
}

#[test]
fn run_files_survive_every_writing_command() {
    let harness = dataset();
    for run in ["r", "other"] {
        harness.juror(&["run", "manifest.jsonl", "--run-id", run]).exits(0);
    }
    harness.write("labels.json", "");
    for file in ["run.json", "results.jsonl", "page.html", "calibration.json"] {
        for output in [format!("runs/r/{file}"), format!("runs/../runs/r/./{file}")] {
            refused(&harness, &["report", "r", "-o", &output], &["only report.* may be written"]);
        }
        let output = format!("runs/other/{file}");
        refused(&harness, &["report", "r", "-o", &output], &["another folder"]);
    }
    let kept = "whose files are kept";
    refused(&harness, &["report", "r", "-o", "runs/other/report.json"], &[kept]);
    refused(&harness, &["run", "manifest.jsonl", "-o", "runs/r/report.html"], &[kept]);
    refused(&harness, &["run", "--resume", "r", "-o", "runs/r/results.jsonl"], &[kept]);
    refused(&harness, &["compare", "other", "r", "-o", "runs/r/report.json"], &[kept]);
    refused(&harness, &["compare", "other", "r", "-o", "runs/r/run.json"], &[kept]);
    refused(&harness, &["demo", "--evidence", "none", "-o", "runs/r/results.jsonl"], &[kept]);
    for output in ["code.html", "tokens.json"] {
        let message = ["line 1", "also an output of this command"];
        let command =
            if output == "code.html" { &["report", "r"][..] } else { &["compare", "other", "r"] };
        refused(&harness, &[command, &["-o", output]].concat(), &message);
    }
    refused(&harness, &["report", "r", "-o", "manifest.jsonl"], &["is the dataset of run r"]);
    let link = harness.path("runs/r/report.md");
    std::os::unix::fs::symlink(harness.path("manifest.jsonl"), link).unwrap();
    refused(&harness, &["report", "r", "-o", "runs/r/report.md"], &["is the dataset of run r"]);
    for output in ["runs/r/report.html", "runs/r/report.json", "runs/r/report.csv"] {
        harness.juror(&["report", "r", "-o", output]).exits(0);
    }
    harness.juror(&["compare", "other", "r", "-o", "runs/r/comparison.json"]).exits(0);
}

#[test]
fn calibration_overwrites_neither_labels_nor_runs() {
    let simulator = TestSimulator::new();
    let harness = CommandHarness::with_items(3);
    harness.judge(&simulator.base_url(), "manifest.jsonl", &[]).exits(0);
    harness.write("labels.jsonl", "{\"id\":\"item_0000\",\"visual_similarity\":9}\n");
    fs::hard_link(harness.path("labels.jsonl"), harness.path("labels.json")).unwrap();
    let calibrate = |output: &str, message: &[&str]| {
        let command = ["calibrate", "first", "--labels", "labels.jsonl", "-o", output];
        refused(&harness, &command, message);
    };
    calibrate("labels.json", &["is the file of labels"]);
    calibrate("runs/first/run.json", &["only calibration.* may be written"]);
    calibrate("runs/first/report.json", &["only calibration.* may be written"]);
}

#[test]
fn demo_keeps_a_changed_dataset_and_a_run_in_its_directory() {
    let harness = CommandHarness::new();
    harness.write("runs/golden/manifest.jsonl", "mine\n");
    let demo = ["demo", "--evidence", "none", "--run-id", "d"];
    refused(&harness, &demo, &["runs/golden/manifest.jsonl is not the bundled file", "--runs-dir"]);
}
