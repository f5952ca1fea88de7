//! A run's name stands for its money and its results.

use crate::workshop::{Simulator, Workshop, write_items};
use juror_simulator::SimulatorConfig;
use std::fs;

#[test]
fn a_name_whose_directory_is_gone_is_not_taken_for_a_new_run() {
    let simulator = Simulator::start(SimulatorConfig::default());
    let workshop = Workshop::new();
    write_items(&workshop, 2);
    workshop.judge(&simulator.base_url(), "manifest.jsonl", &[]).exits(0);
    fs::remove_dir_all(workshop.path("runs/first")).unwrap();
    // Its old results would otherwise be handed out as the other model's.
    let again = ["--model", "gpt-4.1"];
    workshop.judge(&simulator.base_url(), "manifest.jsonl", &again).exits(2).says(&[
        "run first",
        "juror.db",
        "--run-id",
    ]);
    assert!(!workshop.path("runs/first").exists());
    assert_eq!(simulator.requests(), 2);
}

#[test]
fn a_run_that_is_continued_without_a_word_on_its_budget_keeps_it() {
    let simulator = Simulator::start(SimulatorConfig::default());
    let workshop = Workshop::new();
    write_items(&workshop, 2);
    let judge = |flags: &[&str]| workshop.judge(&simulator.base_url(), "manifest.jsonl", flags);
    judge(&["--budget-usd", "0.001"]).exits(3);
    judge(&[]).exits(3).prints(&["2 skipped"]);
    assert_eq!(simulator.requests(), 0);
    judge(&["--budget-usd", "1"]).exits(0);
    assert_eq!(simulator.requests(), 2);
}

#[test]
fn a_name_that_stands_for_something_else_is_refused_and_left_alone() {
    let workshop = Workshop::new();
    write_items(&workshop, 1);
    let mine = workshop.write("runs/golden/manifest.jsonl", "mine\n");
    let notes = workshop.write("runs/notes", "mine\n");
    for (name, command) in [
        ("golden", &["run", "manifest.jsonl", "--run-id"][..]),
        ("golden", &["run", "manifest.jsonl", "--resume"]),
        ("golden", &["run", "manifest.jsonl", "--dry-run", "--run-id"]),
        ("golden", &["run", "--resume"]),
        ("notes", &["run", "manifest.jsonl", "--run-id"]),
    ] {
        let says = [&format!("runs/{name} exists and is no run directory"), "another --run-id"];
        workshop.juror(&[command, &[name]].concat()).exits(2).says(&says.map(|says| &**says));
    }
    assert_eq!(fs::read_to_string(mine).unwrap(), "mine\n");
    assert_eq!(fs::read_to_string(notes).unwrap(), "mine\n");
    assert_eq!(fs::read_dir(workshop.path("runs/golden")).unwrap().count(), 1);
    assert!(!workshop.path("runs/juror.db").exists());
    workshop.juror(&["run", "manifest.jsonl", "--run-id", "free"]).exits(0);
    let database = ["run", "manifest.jsonl", "--run-id", "juror.db"];
    workshop.juror(&database).exits(2).says(&["juror.db exists and is no run directory"]);
}
