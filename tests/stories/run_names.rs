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
