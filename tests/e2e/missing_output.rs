//! Items whose code was not generated.

use crate::harness::{CommandHarness, Recorder, completion, png, verdict};
use serde_json::{Value, json};
use std::fs;

fn perfect_judge() -> Recorder {
    Recorder::start(vec![completion(&verdict(10), 1_500, 60)])
}

/// Writes a dataset of this many items, of which the last ones have code.
fn write_items(harness: &CommandHarness, count: u32, with_code: u32) {
    harness.write("shot.png", png(1, 8, 8));
    let item = |number: u32| {
        let mut item = json!({"id": format!("item_{number:03}"), "screenshot": "shot.png"});
        if number >= count - with_code {
            item["generated_code"] = json!(format!("<p>{number}</p>"));
        }
        format!("{item}\n")
    };
    harness.write("manifest.jsonl", (0..count).map(item).collect::<String>());
}

#[test]
fn run_with_almost_no_code_fails_the_production_gate() {
    let harness = CommandHarness::new();
    write_items(&harness, 120, 6);
    let judge = perfect_judge();
    let outputs = ["report.html", "comment.md", "tests.junit.xml", "results.csv", "all.jsonl"];
    let flags = outputs.iter().flat_map(|output| ["-o", output]).chain(["--gate", "production"]);
    let flags: Vec<&str> = flags.collect();
    let coverage = "6 of 120 scored (5%), 114 without output";
    let run = harness.judge(&judge.base_url(), "manifest.jsonl", &flags).exits(100);
    run.stdout_contains(&[coverage, "no output: the pipeline made no usable code for this"]);
    assert_eq!(judge.requests().len(), 6);

    let report = harness.report("first");
    assert_eq!(report["coverage"]["no_output"], 114);
    assert_eq!(report["coverage"]["errors"], json!({"output": 114}));
    assert_eq!(report["overall"]["semantic"]["avg_semantic_correctness"], 0.05);
    assert_eq!(report["overall"]["pipeline_success_rate"], 0.05);
    assert_eq!(report["targets"]["decision"], "missed");
    let rules = report["targets"]["rules"].as_array().unwrap();
    let streak =
        rules.iter().find(|rule| rule["metric"] == "consecutive_without_api_failure").unwrap();
    assert_eq!((&streak["decision"], &streak["n"]), (&json!("undecided"), &json!(6)));
    assert_eq!(report["common_issues"], json!([]), "zero scores are no finding of the judge");
    let result = harness.result("first", "item_000");
    assert_eq!(result["outcome"], "no_output");
    assert_eq!(result["pipeline_success"], false);
    assert_eq!(result["semantic"]["semantic_correctness"], 0.0);
    assert_eq!((&result["attempts"], &result["judge"]), (&json!(0), &Value::Null));

    let text = |name: &str| fs::read_to_string(harness.path(name)).unwrap();
    assert!(text("report.html").contains("114 no output"));
    assert!(text("comment.md").contains("114 without output"));
    assert!(text("tests.junit.xml").contains(r#"failures="114" errors="0""#));
    assert!(text("tests.junit.xml").contains(r#"<failure type="no_output" message="the pipeline"#));
    assert_eq!(text("results.csv").matches(",no_output,").count(), 114);
    assert_eq!(text("all.jsonl").matches(r#""outcome":"no_output""#).count(), 114);
    harness.juror(&["runs", "show", "first"]).exits(0).stdout_contains(&["114 without output"]);
}

#[test]
fn missing_output_is_excluded_by_setting_and_is_no_outcome_without_a_judge() {
    let harness = CommandHarness::new();
    write_items(&harness, 2, 1);
    let judge = perfect_judge();
    let run = harness.judge(&judge.base_url(), "manifest.jsonl", &[]).exits(3);
    run.stdout_contains(&["missing_output = \"zero\""]);
    assert_eq!(harness.report("first")["overall"]["semantic"]["avg_semantic_correctness"], 0.5);
    harness.write("juror.toml", "[run]\nmissing_output = \"excluded\"\n");
    let flags = ["run", "manifest.jsonl", "--enable-llm-judge", "--base-url", &judge.base_url()];
    harness.juror(&[&flags[..], &["--run-id", "other"]].concat()).exits(3);
    // Each run is reported by the setting that it began with.
    for settings in ["[run]\nmissing_output = \"excluded\"\n", ""] {
        harness.write("juror.toml", settings);
        for (run, word, score) in [("first", "zero", 0.5), ("other", "excluded", 1.0)] {
            let text = format!("missing_output = {word:?}");
            harness.juror(&["report", run]).exits(3).stdout_contains(&[&text]);
            let overall = &harness.report(run)["overall"];
            assert_eq!(overall["semantic"]["avg_semantic_correctness"], score, "{run}");
        }
    }
    assert_eq!(harness.report("other")["overall"]["pipeline_success_rate"], 1.0);

    harness.juror(&["run", "manifest.jsonl", "--run-id", "judge-off"]).exits(0);
    assert_eq!(harness.result("judge-off", "item_000")["outcome"], "scored");
    assert_eq!(harness.result("judge-off", "item_000")["generation"], Value::Null);
}

#[test]
fn code_added_later_is_judged_on_resume() {
    let harness = CommandHarness::new();
    harness.write("shot.png", png(1, 8, 8));
    harness.write("blank.tsx", " \n\t\n");
    let line = json!({"id": "a", "screenshot": "shot.png", "generated_code": "blank.tsx"});
    harness.write("manifest.jsonl", format!("{line}\n"));
    let judge = perfect_judge();
    harness
        .judge(&judge.base_url(), "manifest.jsonl", &[])
        .exits(3)
        .stdout_contains(&["(blank.tsx contains no"]);
    let message = harness.result("first", "a")["error"]["message"].to_string();
    assert!(message.contains("blank.tsx contains no code"), "{message}");
    let generation = &harness.result("first", "a")["generation"];
    assert_eq!(generation["code_compiles"], false);
    assert_eq!(generation["error"], "blank.tsx contains no code");
    harness.resume("first", &[]).exits(3);
    assert_eq!(judge.requests().len(), 0, "asking again costs nothing while there is no code");
    harness.write("blank.tsx", "export const A = () => <p>a</p>;");
    harness.resume("first", &[]).exits(0).stdout_contains(&["1 of 1 scored"]);
    assert_eq!(judge.requests().len(), 1);
    assert_eq!(harness.result("first", "a")["round"], 2);
}

#[test]
fn a_pipeline_that_returns_no_code_has_no_output() {
    let harness = CommandHarness::new();
    write_items(&harness, 1, 1);
    harness.write("answer.json", r#"{"generated_code": " "}"#);
    harness.write("juror.toml", "[stages]\npipeline_command = [\"cat\", \"answer.json\"]\n");
    let judge = perfect_judge();
    let run = harness.judge(&judge.base_url(), "manifest.jsonl", &[]).exits(3);
    run.stdout_contains(&["1 without output", "pipeline_command returned none"]);
    harness.write("answer.json", r#"{"generated_code": null}"#);
    harness.resume("first", &[]).exits(3).stdout_contains(&["1 without output"]);
    harness.write("answer.json", r#"{"generated_code": "<p>a</p>"}"#);
    harness.resume("first", &[]).exits(0).stdout_contains(&["1 of 1 scored"]);
}
