//! What the documentation says of costs is what an estimate says.

use crate::harness::{Harness, repository};
use serde_json::Value;
use std::fs;

/// Screenshots of a small run, and nights of a year.
const RUN: f64 = 15.0;
const NIGHTS: f64 = 365.0;

fn dollars(amount: &Value) -> f64 {
    amount.as_str().unwrap().parse().unwrap()
}

fn row(model: &Value, jobs: f64) -> String {
    let expected = dollars(&model["expected_usd"]) / jobs;
    let worst = dollars(&model["worst_one_call_usd"]) / jobs;
    format!(
        "| `{}` | ${expected:.4} | ${worst:.4} | ${:.2} | ${:.0} | ${:.2} |",
        model["model"].as_str().unwrap(),
        expected * RUN,
        expected * RUN * NIGHTS,
        expected * 1_000.0
    )
}

#[test]
fn the_table_of_costs_is_what_juror_estimates() {
    let harness = Harness::new();
    let golden = repository("examples/golden/manifest.jsonl");
    let told = harness.juror(&["estimate", &golden, "--all-models", "--json"]).exits(0);
    let estimate: Value = serde_json::from_str(&told.stdout).unwrap();
    let jobs = estimate["jobs"].as_f64().unwrap();
    let models = estimate["models"].as_array().unwrap();
    let page = fs::read_to_string(repository("docs/judge.md")).unwrap();
    let (_, table) = page.split_once("<!-- cost table").unwrap();
    let lines = table.lines().skip_while(|line| !line.starts_with('|'));
    let lines = lines.take_while(|line| line.starts_with('|'));
    let rows: Vec<&str> = lines.filter(|line| line.starts_with("| `")).collect();
    assert!(rows.len() >= 10, "the table has {} rows", rows.len());
    for written in rows {
        let name = written.split('`').nth(1).unwrap();
        let model = models.iter().find(|model| model["model"] == name);
        let model = model.unwrap_or_else(|| panic!("{name} has no price any more"));
        assert_eq!(written, row(model, jobs), "docs/judge.md, the row of {name}");
    }
    assert_eq!(models[0]["model"], "gpt-4o", "the page begins with the default model");
}
