//! Runs directories and folders of datasets that hold what nobody expects there.

use crate::workshop::{Manual, WebDoor, Workshop, repository, write_items};
use serde_json::json;
use std::{fs, process::Command};

/// Puts a pipe, which nobody ever writes to, in the place of a file.
fn pipe(workshop: &Workshop, name: &str) {
    let path = workshop.path(name);
    let _ = fs::remove_file(&path);
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn with_free_runs(runs: &[&str]) -> (Workshop, WebDoor) {
    let workshop = Workshop::new();
    write_items(&workshop, 1);
    for run in runs {
        workshop.juror(&["run", "manifest.jsonl", "--run-id", run]).exits(0);
    }
    let door = WebDoor::open(&workshop, &[]);
    (workshop, door)
}

#[test]
fn a_pipe_in_the_place_of_a_runs_file_holds_nobody_up() {
    let (workshop, door) = with_free_runs(&["record", "journal", "report", "sound"]);
    pipe(&workshop, "runs/record/run.json");
    pipe(&workshop, "runs/journal/results.jsonl");
    pipe(&workshop, "runs/report/report.json");
    let listed = door.get("/api/v1/runs").is(200).json();
    let mut names: Vec<_> =
        listed["runs"].as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["journal", "report", "sound"]);
    for page in ["/", "/runs", "/runs/sound", "/runs/report"] {
        door.get(page).is(200);
    }
    door.get("/runs/journal").is(500).says(&["results.jsonl", "not a regular file"]);
    door.get("/api/v1/runs/record").is(500).says(&["record/run.json"]);
    door.get("/api/v1/runs/journal").is(500);
}

#[test]
fn an_enormous_report_is_not_read() {
    let (workshop, door) = with_free_runs(&["swollen"]);
    let report = fs::OpenOptions::new().write(true).open(workshop.path("runs/swollen/report.json"));
    // Sparse: it takes no room, and reading it would take a minute.
    report.unwrap().set_len(1 << 38).unwrap();
    let listed = door.get("/api/v1/runs").is(200).json();
    assert_eq!(listed["runs"][0]["figures"], json!(null));
    door.get("/runs/swollen").is(200);
    door.ask_to_stop();
    door.finish().exits(0).says(&["report.json", "larger than"]);
}

#[test]
fn the_page_of_a_damaged_run_says_what_is_wrong_and_where_no_file_lies() {
    let (workshop, door) = with_free_runs(&["damaged"]);
    let journal = workshop.path("runs/damaged/results.jsonl");
    let results = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, results + "no result\n").unwrap();
    let page = door.get("/runs/damaged").is(500);
    let page = page.says(&["damaged/results.jsonl, line 2", "not a readable record"]);
    let folder = workshop.path("").display().to_string();
    assert!(!String::from_utf8_lossy(&page.body).contains(&folder), "a path of this machine");
}

#[test]
fn a_runs_directory_that_is_not_there_is_named() {
    let workshop = Workshop::new();
    let door = WebDoor::open(&workshop, &["--runs-dir", "mistyped"]);
    door.get("/").is(200).says(&["There are no runs yet", "mistyped"]);
    door.ask_to_stop();
    door.finish().exits(0).says(&["mistyped", "no such folder"]);
}

#[test]
fn only_datasets_are_offered_to_be_judged() {
    let workshop = Workshop::new();
    let golden = [repository("examples/golden/."), workshop.path("").display().to_string()];
    assert!(Command::new("cp").arg("-r").args(golden).status().unwrap().success());
    let door = WebDoor::open(&workshop, &[]);
    let form = door.get("/start").is(200).says(&["\"manifest.jsonl\"", "acrue/manifest.jsonl"]);
    assert!(!String::from_utf8_lossy(&form.body).contains("verdicts.jsonl"));
}

#[test]
fn every_command_of_the_manuals_pages_opens_the_door() {
    for page in ["dashboard", "demo"] {
        let workshop = Workshop::new();
        let manual = Manual::page(page);
        for folder in ["datasets", "examples"] {
            fs::create_dir(workshop.path(folder)).unwrap();
        }
        let golden =
            [repository("examples/golden"), workshop.path("examples").display().to_string()];
        assert!(Command::new("cp").arg("-r").args(golden).status().unwrap().success());
        // What has been installed already, and is tried elsewhere.
        let cargo = workshop.write("bin/cargo", "#!/bin/sh\n");
        assert!(Command::new("chmod").arg("+x").arg(cargo).status().unwrap().success());
        let tokens = workshop.path("juror-").display().to_string();
        if let Some(settings) = manual.blocks("toml").first() {
            workshop.write("juror.toml", settings.replace("/run/secrets/juror-", &tokens));
            workshop.write("juror-read", "a-token-that-reads-0123456789");
            workshop.write("juror-write", "a-token-that-writes-0123456789");
        }
        manual.run(&workshop, &[]);
        let shown = workshop.path("shown");
        assert_eq!(shown.join("tuesday/report.json").is_file(), page == "demo");
    }
}
