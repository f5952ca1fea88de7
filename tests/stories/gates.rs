//! Gates and the exit codes that they ask for.

use crate::workshop::{Finished, Recorder, Workshop, completion, verdict, write_items};
use serde_json::Value;

/// A run of so many items that all get this score, through a gate.
fn gated(workshop: &Workshop, items: u32, score: u64, gate: &str) -> (Finished, Value) {
    write_items(workshop, items);
    let judge = Recorder::start(vec![completion(&verdict(score), 1_500, 60)]);
    let flags = ["--gate", gate, "-j", "4"];
    let finished = workshop.judge(&judge.base_url(), "manifest.jsonl", &flags);
    let targets = workshop.report("first")["targets"].clone();
    (finished, targets)
}

#[test]
fn the_production_gate_wants_a_hundred_jobs() {
    let workshop = Workshop::new();
    let (run, targets) = gated(&workshop, 100, 10, "production");
    run.exits(0);
    assert_eq!(targets["decision"], "met", "{targets}");

    let workshop = Workshop::new();
    let (run, targets) = gated(&workshop, 5, 10, "production");
    run.exits(0).prints(&["undecided"]);
    assert_eq!(targets["decision"], "undecided", "{targets}");
}

#[test]
fn a_gate_that_is_missed_exits_with_100() {
    for gate in ["production", "targets"] {
        let workshop = Workshop::new();
        let (run, targets) = gated(&workshop, 3, 5, gate);
        run.exits(100).prints(&["missed"]);
        assert_eq!(targets["decision"], "missed");
        workshop.juror(&["report", "first", "--gate", gate]).exits(100);
        workshop.juror(&["report", "first"]).exits(0);
    }
}

#[test]
fn a_gate_of_ones_own_is_a_file() {
    let workshop = Workshop::new();
    workshop.write(
        "gate.toml",
        "schema = 1\nmin_coverage = 0.5\n[[rule]]\nmetric = \"semantic.avg_visual_similarity\"\nat_least = 7.0\n",
    );
    let (run, targets) = gated(&workshop, 2, 7, "gate.toml");
    run.exits(0);
    assert_eq!(targets["decision"], "met", "{targets}");

    for (text, says) in [
        (
            "schema = 1\n[[rule]]\nmetric = \"semantic.charm\"\nabove = 1\n",
            "has no metric \"semantic.charm\"",
        ),
        (
            "schema = 1\n[[rule]]\nmetric = \"semantic.avg_visual_similarity\"\n",
            "either above or at_least",
        ),
        ("schema = 2\n", "schema 2, but this program reads schema 1"),
        ("schema = 1\nmin_coverage = 80\n", "a share from 0 to 1"),
    ] {
        workshop.write("gate.toml", text);
        let refused = workshop.juror(&["report", "first", "--gate", "gate.toml"]).exits(2);
        refused.says(&["gate.toml", says]);
    }
}

#[test]
fn a_gate_outweighs_an_incomplete_run_and_coverage_counts() {
    let workshop = Workshop::new();
    write_items(&workshop, 4);
    let answers = vec![completion(&verdict(10), 1_500, 60); 3].into_iter();
    let judge = Recorder::start(answers.chain([completion("no verdict", 1_500, 5)]).collect());
    let judged = |flags: &[&str]| workshop.judge(&judge.base_url(), "manifest.jsonl", flags);
    judged(&["-j", "1"]).exits(3).prints(&["3 of 4 scored (75%), 1 unscorable"]);
    workshop.juror(&["report", "first", "--gate", "production"]).exits(100);
    workshop.juror(&["report", "first", "--gate", "targets"]).exits(3);
}
