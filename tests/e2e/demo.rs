//! The first thing that a newcomer runs.

use crate::harness::Harness;

#[test]
fn the_demo_judges_the_golden_set_and_says_that_it_is_simulated() {
    let harness = Harness::new();
    let demo = harness
        .juror(&["demo", "--evidence", "none", "--run-id", "first", "-o", "report.csv"])
        .exits(0);
    demo.prints(&["SEMANTIC EVALUATION", "SIMULATED", "27 of 27 scored", "87.4%"]);
    let report = harness.report("first");
    assert_eq!(report["coverage"]["scored"], 27);
    assert_eq!(report["run"]["simulated"], true);
    let csv = std::fs::read_to_string(harness.path("report.csv")).unwrap();
    assert_eq!(csv.lines().count(), 28);
}

#[test]
fn the_demo_of_restyled_pictures_grades_them() {
    let harness = Harness::new();
    let demo = harness.juror(&["demo", "--acrue", "--run-id", "styles"]).exits(0);
    demo.prints(&["SIMULATED", "6 of 6 scored"]);
    let journal = harness.journal("styles");
    let grades: Vec<_> =
        journal.iter().map(|line| line["semantic"]["grade"].as_str().unwrap()).collect();
    assert!(grades.contains(&"A+") && grades.contains(&"F"), "{grades:?}");
}
