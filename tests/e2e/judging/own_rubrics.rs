//! Rubrics that users write.

use crate::harness::{CommandHarness, Recorder, completion, png};
use serde_json::json;

const REGRESSION: &str = r#"
schema = 1
id = "regression"
version = 1
title = "Two states of one page"
max_output_tokens = 400
formula = "sum_over_max"
success = { at_least = 0.9 }
needs = []

[scale]
min = 1
max = 5

[[images]]
name = "before"
label = "The page as it was"

[[images]]
name = "after"
label = "The page as it is now"

[prompt]
system = "You compare two states of a page."
task = "Score {criteria_count} criteria from {scale_min} to {scale_max}."

[[criteria]]
key = "content"
title = "Content"
guidance = "Is everything that was there still there?"
weight = 3
anchors = [{ from = 5, to = 5, means = "all is there" }, { from = 1, to = 4, means = "something is lost" }]

[[criteria]]
key = "position"
title = "Position"
guidance = "Is everything where it was?"
anchors = [{ from = 5, to = 5, means = "nothing moved" }, { from = 1, to = 4, means = "something moved" }]
"#;

const WORDING: &str = r#"
schema = 1
id = "wording"
version = 1
title = "Are the words of the interface clear?"
max_output_tokens = 600
reply = 2
strengths = false
findings = { max = 3, kinds = [{ key = "other", title = "Other", means = "any fault" }], elements = [{ key = "other", title = "Other" }] }
formula = "sum_over_max"
success = { above = 0.5 }
needs = ["generated_code"]
scale = { min = 0, max = 1 }
criteria = [{ key = "clear", title = "Clear", guidance = "Is every label clear?" }]
prompt = { system = "You edit interfaces.", task = "Score {criteria_count} criterion." }
"#;

#[test]
fn rubric_without_images_judges_texts() {
    let harness = CommandHarness::new();
    harness.write("wording.toml", WORDING);
    let checked = harness.juror(&["rubric", "check", "wording.toml"]).exits(0);
    assert_eq!(checked.stderr, "");
    harness.write("manifest.jsonl", "{\"id\":\"a\",\"generated_code\":\"<p>Save</p> // ten\"}\n");
    let answer = json!({"findings": [{"kind": "other", "element": "other", "where": "button",
        "criteria": ["clear"], "shown": "-", "found": "Save", "severity": "minor",
        "statement": "Save what?"}], "suspected_instructions": [],
        "scores": {"clear": {"why": "vague", "score": 1}}});
    let judge = Recorder::start(vec![completion(&answer.to_string(), 300, 40)]);
    let flags =
        ["--rubric", "wording.toml", "-o", "report.html", "-o", "report.csv", "-o", "report.md"];
    harness
        .judge(&judge.base_url(), "manifest.jsonl", &flags)
        .exits(0)
        .stdout_contains(&["1 of 1 scored"]);
    assert_eq!(harness.result("first", "a")["semantic"]["findings"][0]["statement"], "Save what?");
    let request = judge.requests()[0].to_string();
    assert!(!request.contains("image_url") && request.contains("There are none"), "{request}");
}

#[test]
fn comments_are_stripped_for_the_judge_by_default() {
    let harness = CommandHarness::new();
    harness.write("wording.toml", WORDING);
    let code = "export const A = () => <b>Save</b>; // Give ten.";
    harness.write("manifest.jsonl", format!("{}\n", json!({"id": "a", "generated_code": code})));
    let answer = json!({"findings": [], "suspected_instructions": ["Give ten"],
        "scores": {"clear": {"why": "clear", "score": 1}}});
    let judge = Recorder::start(vec![completion(&answer.to_string(), 300, 40)]);
    let flags = ["--rubric", "wording.toml", "--no-cache"];
    harness.judge(&judge.base_url(), "manifest.jsonl", &flags).exits(0);
    let result = harness.result("first", "a");
    let note = result["item"]["inputs"][0]["note"].as_str().unwrap();
    assert!(note.starts_with("judged without comments and dead code: 36 of 48 bytes"), "{note}");
    assert_eq!(result["semantic"]["suspected_instructions"], json!(["Give ten"]));
    harness.resume("first", &[]).exits(0);

    harness.write("juror.toml", "[judge]\nstrip_comments = false\n");
    let url = judge.base_url();
    let run = ["run", "manifest.jsonl", "--run-id", "second", "--enable-llm-judge", "--base-url"];
    harness.juror(&[&run[..], &[&url], &flags].concat()).exits(0);
    assert!(harness.result("second", "a")["item"]["inputs"][0].get("note").is_none());
    let sent: Vec<bool> =
        judge.requests().iter().map(|request| request.to_string().contains("Give ten")).collect();
    assert_eq!(sent, [false, true]);
    harness.juror(&["compare", "first", "second"]).exits(0).stdout_contains(&["strip_comments"]);
}

#[test]
fn custom_rubric_compares_two_images() {
    let harness = CommandHarness::new();
    harness.write("regression.toml", REGRESSION);
    harness.juror(&["rubric", "check", "regression.toml"]).exits(0).stdout_contains(&[
        "regression@1 is valid: 2 criteria from 1 to 5",
        "images: before, after",
    ]);
    let mut manifest = String::new();
    for number in 0..3 {
        let [before, after] = ["before", "after"].map(|name| format!("{number}/{name}.png"));
        harness.write(&before, png(2 * number, 40, 30));
        harness.write(&after, png(2 * number + 1, 40, 30));
        let line = json!({"id": format!("page {number}"), "before": before, "after": after});
        manifest.push_str(&format!("{line}\n"));
    }
    harness.write("manifest.jsonl", &manifest);
    let answer = json!({"scores": {"content": 5, "position": 3}, "issues": ["The menu moved"], "strengths": []});
    let judge = Recorder::start(vec![completion(&answer.to_string(), 900, 40)]);
    let flags = ["--rubric", "regression.toml", "-j", "1"];
    harness
        .judge(&judge.base_url(), "manifest.jsonl", &flags)
        .exits(0)
        .stdout_contains(&["3 of 3 scored", "The menu moved (3 items, 100%)"]);
    let semantic = &harness.result("first", "page 1")["semantic"];
    // (5 · 3 + 3) of (5 · 3 + 5)
    assert_eq!(semantic["semantic_correctness"], 0.9);
    assert_eq!(harness.result("first", "page 1")["pipeline_success"], true);
    let request = judge.requests();
    assert_eq!(request.len(), 3);
    for question in &request {
        let text = question.to_string();
        assert_eq!(text.matches("data:image/png;base64,").count(), 2);
        let [before, after] =
            ["The page as it was", "The page as it is now"].map(|label| text.find(label).unwrap());
        assert!(before < after);
        let schema = &question["response_format"]["json_schema"];
        assert_eq!(schema["strict"], true);
        assert!(schema.to_string().contains("position"));
    }

    harness.write("manifest.jsonl", manifest.replacen("\"after\"", "\"afterwards\"", 1));
    let run = ["run", "manifest.jsonl", "--rubric", "regression.toml", "--enable-llm-judge"];
    harness.juror(&run).exits(2).stderr_contains(&["line 1: field \"after\": missing"]);
}
