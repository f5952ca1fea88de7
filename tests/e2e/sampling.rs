//! Runs of a random part of a dataset.

use crate::harness::{Harness, Simulator, write_items};
use juror_simulator::SimulatorConfig;
use serde_json::json;

/// The items that a run judged, in order.
fn judged(harness: &Harness, run: &str) -> Vec<String> {
    let journal = harness.journal(run);
    let mut ids: Vec<String> =
        journal.iter().map(|line| line["screenshot_id"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids
}

#[test]
fn a_sample_is_chosen_by_its_seed_and_recorded() {
    let harness = Harness::new();
    write_items(&harness, 12);
    let run = |name: &str, seed: &str| {
        let flags = ["run", "manifest.jsonl", "--run-id", name, "--sample", "4", "--seed", seed];
        harness.juror(&[&flags[..], &["-o", "r.html", "-o", "r.md"]].concat())
    };
    let says = "a random sample of 4 of 12 items (seed 7)";
    run("one", "7").exits(0).prints(&[says, "4 of 4 scored"]);
    for page in ["r.html", "r.md"] {
        let page = std::fs::read_to_string(harness.path(page)).unwrap();
        assert!(page.contains("a random sample of 4 of 12 items"), "{page}");
    }
    let sample = &harness.report("one")["run"]["dataset"]["sample"];
    assert_eq!(*sample, json!({"items": 4, "seed": 7, "of": 12}));
    harness.juror(&["runs", "show", "one"]).exits(0).prints(&[says]);
    run("two", "7").exits(0);
    assert_eq!(judged(&harness, "one"), judged(&harness, "two"));
    run("other", "8").exits(0);
    assert_ne!(judged(&harness, "one"), judged(&harness, "other"));

    run("one", "8").exits(2).says(&["--sample 4 --seed 7", "--sample 4 --seed 8"]);
    harness.resume("one", &[]).exits(0).prints(&["4 of 4 scored"]);
    harness.juror(&["run", "manifest.jsonl", "--seed", "7"]).exits(2).says(&["--sample"]);
    harness.juror(&["estimate", "manifest.jsonl", "--sample", "0"]).exits(2);
    let estimate = harness.juror(&["estimate", "manifest.jsonl", "--sample", "3", "--json"]);
    let estimate = estimate.exits(0);
    let estimate: serde_json::Value = serde_json::from_str(&estimate.stdout).unwrap();
    assert_eq!(estimate["jobs"], 3, "{estimate}");
}

#[test]
fn a_run_that_its_budget_ended_says_that_it_judged_the_first_jobs() {
    let harness = Harness::new();
    let simulator = Simulator::start(SimulatorConfig::default());
    write_items(&harness, 3);
    for (name, budget, judged, warning) in [
        ("nothing", "0", "no job was judged", "3 jobs unjudged: none was judged"),
        (
            "capped",
            "0.055",
            "only the first jobs in the dataset's order were judged",
            "unjudged: those that were judged are the first",
        ),
    ] {
        let flags = ["--budget-usd", budget, "--no-cache", "-j", "1"];
        harness.judge_run(&simulator, name, &flags).exits(3).says(&[judged]);
        let warnings = harness.report(name)["warnings"].to_string();
        assert!(warnings.contains(warning), "{warnings}");
    }
}
