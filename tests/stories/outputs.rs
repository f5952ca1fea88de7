//! No output replaces an input of the command or a file that a run keeps.

use crate::workshop::{Simulator, Workshop, png, write_items};
use juror_simulator::SimulatorConfig;
use serde_json::json;
use std::{fs, path::Path};

/// One sound item whose code and tokens are files of their own.
fn dataset() -> Workshop {
    let workshop = Workshop::new();
    workshop.write("shot.png", png(1, 8, 8));
    workshop.write("code.html", "<p>Text</p>");
    workshop.write("tokens.json", r#"{"color":"red"}"#);
    let line = json!({
        "id": "a", "screenshot": "shot.png", "generated_code": "code.html",
        "expected_tokens": "tokens.json", "extracted_tokens": "tokens.json",
    });
    workshop.write("manifest.jsonl", format!("{line}\n"));
    workshop
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
fn refused(workshop: &Workshop, arguments: &[&str], says: &[&str]) {
    let before = contents(&workshop.path(""));
    let finished = workshop.juror(arguments);
    assert_eq!(finished.code, 2, "{arguments:?}: {}{}", finished.stdout, finished.stderr);
    finished.says(says);
    assert!(contents(&workshop.path("")) == before, "{arguments:?} changed a file");
}

#[test]
fn a_run_replaces_no_input_whatever_it_is_called() {
    let workshop = dataset();
    workshop.write("own.json", "[run]\ngate = \"gate.md\"\nrubric = \"rubric.md\"\n");
    workshop.write("gate.md", "[[require]]\nmetric = \"coverage\"\nabove = 0.5\n");
    let semantic = fs::read_to_string(crate::workshop::repository("config/rubrics/semantic.toml"));
    workshop.write("rubric.md", semantic.unwrap());
    fs::create_dir(workshop.path("sub")).unwrap();
    let link = |from: &str, to: &str| {
        std::os::unix::fs::symlink(workshop.path(from), workshop.path(to)).unwrap();
    };
    link("manifest.jsonl", "link.jsonl");
    link("sub", "other");
    fs::hard_link(workshop.path("manifest.jsonl"), workshop.path("hard.jsonl")).unwrap();
    fs::hard_link(workshop.path("shot.png"), workshop.path("shot.json")).unwrap();
    for output in [
        "manifest.jsonl",
        "./sub/../manifest.jsonl",
        "other/../manifest.jsonl",
        "link.jsonl",
        "hard.jsonl",
    ] {
        let run = ["run", "manifest.jsonl", "-o", output];
        refused(&workshop, &run, &[output, "is the dataset", "name another output"]);
        refused(&workshop, &[&run[..], &["--dry-run"]].concat(), &["is the dataset"]);
    }
    for (output, field) in [
        ("code.html", "generated_code"),
        ("tokens.json", "expected_tokens"),
        ("shot.json", "screenshot"),
    ] {
        let says = ["manifest.jsonl, line 1", field, "also an output of this command"];
        refused(&workshop, &["run", "manifest.jsonl", "-o", output], &says);
    }
    for (output, role) in [
        ("own.json", "is the settings file"),
        ("gate.md", "is the gate file"),
        ("rubric.md", "is the rubric"),
    ] {
        refused(&workshop, &["run", "manifest.jsonl", "-c", "own.json", "-o", output], &[role]);
    }
    fs::create_dir(workshop.path("folder.json")).unwrap();
    refused(&workshop, &["run", "manifest.jsonl", "-o", "folder.json"], &["is not a file"]);
    let outputs = ["-o", "new.jsonl", "-o", "sub/new.html"];
    let run = ["run", "manifest.jsonl", "--run-id", "r"];
    workshop.juror(&[&run[..], &outputs].concat()).exits(0);
    workshop.juror(&[&run[..], &outputs].concat()).exits(0);
}

#[test]
fn the_files_of_a_run_outlive_every_command_that_writes() {
    let workshop = dataset();
    for run in ["r", "other"] {
        workshop.juror(&["run", "manifest.jsonl", "--run-id", run]).exits(0);
    }
    workshop.write("labels.json", "");
    for file in ["run.json", "results.jsonl", "page.html", "calibration.json"] {
        for output in [format!("runs/r/{file}"), format!("runs/../runs/r/./{file}")] {
            refused(&workshop, &["report", "r", "-o", &output], &["only report.* may be written"]);
        }
        let output = format!("runs/other/{file}");
        refused(&workshop, &["report", "r", "-o", &output], &["another folder"]);
    }
    let kept = "whose files are kept";
    refused(&workshop, &["report", "r", "-o", "runs/other/report.json"], &[kept]);
    refused(&workshop, &["run", "manifest.jsonl", "-o", "runs/r/report.html"], &[kept]);
    refused(&workshop, &["run", "--resume", "r", "-o", "runs/r/results.jsonl"], &[kept]);
    refused(&workshop, &["compare", "other", "r", "-o", "runs/r/report.json"], &[kept]);
    refused(&workshop, &["compare", "other", "r", "-o", "runs/r/run.json"], &[kept]);
    refused(&workshop, &["demo", "-o", "runs/r/results.jsonl"], &[kept]);
    for output in ["code.html", "tokens.json"] {
        let says = ["line 1", "also an output of this command"];
        let command =
            if output == "code.html" { &["report", "r"][..] } else { &["compare", "other", "r"] };
        refused(&workshop, &[command, &["-o", output]].concat(), &says);
    }
    refused(&workshop, &["report", "r", "-o", "manifest.jsonl"], &["is the dataset of run r"]);
    let link = workshop.path("runs/r/report.md");
    std::os::unix::fs::symlink(workshop.path("manifest.jsonl"), link).unwrap();
    refused(&workshop, &["report", "r", "-o", "runs/r/report.md"], &["is the dataset of run r"]);
    for output in ["runs/r/report.html", "runs/r/report.json", "runs/r/report.csv"] {
        workshop.juror(&["report", "r", "-o", output]).exits(0);
    }
    workshop.juror(&["compare", "other", "r", "-o", "runs/r/comparison.json"]).exits(0);
}

#[test]
fn a_calibration_replaces_neither_its_labels_nor_a_run() {
    let simulator = Simulator::start(SimulatorConfig::default());
    let workshop = Workshop::new();
    write_items(&workshop, 3);
    workshop.judge(&simulator.base_url(), "manifest.jsonl", &[]).exits(0);
    workshop.write("labels.jsonl", "{\"id\":\"item_0000\",\"visual_similarity\":9}\n");
    fs::hard_link(workshop.path("labels.jsonl"), workshop.path("labels.json")).unwrap();
    let calibrate = |output: &str, says: &[&str]| {
        let command = ["calibrate", "first", "--labels", "labels.jsonl", "-o", output];
        refused(&workshop, &command, says);
    };
    calibrate("labels.json", &["is the file of labels"]);
    calibrate("runs/first/run.json", &["only calibration.* may be written"]);
    calibrate("runs/first/report.json", &["only calibration.* may be written"]);
}

#[test]
fn the_demo_leaves_a_changed_dataset_and_a_run_in_its_place_alone() {
    let workshop = Workshop::new();
    workshop.write("runs/golden/manifest.jsonl", "mine\n");
    let demo = ["demo", "--run-id", "d"];
    refused(
        &workshop,
        &demo,
        &["runs/golden/manifest.jsonl is not the bundled file", "--runs-dir"],
    );
}
