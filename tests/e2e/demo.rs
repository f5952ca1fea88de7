//! `juror demo`, the first command of a new user.

use crate::harness::CommandHarness;
use juror_services::install;

#[test]
fn demo_judges_the_golden_set_and_is_labeled_as_simulated() {
    let harness = CommandHarness::new();
    let demo = harness
        .juror(&["demo", "--evidence", "none", "--run-id", "first", "-o", "report.csv"])
        .exits(0);
    demo.stdout_contains(&["SEMANTIC EVALUATION", "SIMULATED", "27 of 27 scored", "87.4%"]);
    let report = harness.report("first");
    assert_eq!(report["coverage"]["scored"], 27);
    assert_eq!(report["run"]["simulated"], true);
    let csv = std::fs::read_to_string(harness.path("report.csv")).unwrap();
    assert_eq!(csv.lines().count(), 28);
}

#[test]
fn simulated_costs_are_in_no_real_ledger() {
    let harness = CommandHarness::new();
    harness.write("juror.toml", "schema = 1\n[budget]\nmonth_usd = \"0.40\"\n");
    for run in ["first", "second"] {
        let demo = ["demo", "--evidence", "none", "--run-id", run];
        harness.juror(&demo).exits(0).stdout_contains(&["27 of 27 scored"]);
    }
    let show = harness.juror(&["budget", "show", "--json"]).exits(0);
    let budgets = show.json();
    assert!(!budgets.to_string().contains("0.30"), "{budgets}");
    let cost = harness.report("first")["cost"]["total_usd"].clone();
    harness.juror(&["report", "first"]).exits(0);
    assert_eq!(harness.report("first")["cost"]["total_usd"], cost);
}

#[test]
fn demo_grades_restyled_images() {
    let harness = CommandHarness::new();
    let demo = harness.juror(&["demo", "--acrue", "--run-id", "styles"]).exits(0);
    demo.stdout_contains(&["SIMULATED", "6 of 6 scored"]);
    let journal = harness.journal("styles");
    let grades: Vec<_> =
        journal.iter().map(|line| line["semantic"]["grade"].as_str().unwrap()).collect();
    assert!(grades.contains(&"A+") && grades.contains(&"F"), "{grades:?}");
}

/// Settings without the trials of repairs, which take most of the time.
const WITHOUT_TRIALS: &str = "[evidence]\ntrials = 0\n";

#[test]
fn demo_judge_receives_facts_with_a_browser() {
    install::ensure("/usr/bin/chromium", "chromium");
    for (mode, images) in [(None, 2), (Some("full"), 3)] {
        let harness = CommandHarness::new();
        harness.write("juror.toml", WITHOUT_TRIALS);
        let flags = mode.map(|mode| ["--evidence", mode]);
        let demo = ["demo", "--run-id", "first"];
        let demo = [&demo[..], flags.as_ref().map_or(&[], |flags| &flags[..])].concat();
        let demo =
            harness.juror(&demo).exits(0).stderr_contains(&["by the rubric semantic-evidence@1"]);
        demo.stdout_contains(&["27 of 27 scored", "87.4%", "MEASURED"]);
        let drawn = harness.result("first", "button_secondary");
        assert_eq!(drawn["semantic"]["rubric"], "semantic-evidence@1");
        assert_eq!(drawn["semantic"]["scores"]["variant_accuracy"], 5, "the recorded verdict");
        assert_eq!(drawn["evidence"]["source"], "browser");
        let cited = &drawn["semantic"]["findings"][0]["region"];
        assert_eq!((cited, &drawn["evidence"]["regions"][0]["kind"]), (&1.into(), &"color".into()));
        let inputs = drawn["item"]["inputs"].as_array().unwrap();
        let drawn = ["screenshot", "rendered", "crops"];
        let named = inputs.iter().filter(|input| drawn.iter().any(|name| input["name"] == *name));
        assert_eq!(named.count(), images, "{inputs:?}");
    }
}

#[test]
fn demo_without_a_browser_describes_the_missing_part() {
    let harness = CommandHarness::new();
    harness.write("juror.toml", "[render]\nbrowser = \"no-such-browser\"\n");
    let demo = harness.juror(&["demo", "--run-id", "first"]).exits(0);
    let notice =
        ["by the rubric semantic@2", "no browser found: with one", "measures how it differs"];
    demo.stderr_contains(&notice).stdout_contains(&["27 of 27 scored", "87.4%"]);
    assert!(harness.result("first", "button_secondary")["evidence"].is_null());
}
