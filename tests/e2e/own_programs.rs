//! User-provided programs as stages.

use crate::harness::{CommandHarness, png};
use serde_json::{Value, json};

#[test]
fn custom_pipeline_runs_for_each_item() {
    let harness = CommandHarness::new();
    let mut manifest = String::new();
    for (number, id) in ["good", "broken", "silent"].into_iter().enumerate() {
        harness.write(&format!("{id}.png"), png(number as u32, 8, 8));
        let line = json!({"id": id, "screenshot": format!("{id}.png"), "expected_pattern": "card",
                          "expected_tokens": {"size": "8px"}});
        manifest.push_str(&format!("{line}\n"));
    }
    harness.write("manifest.jsonl", manifest);
    let script = r#"
item=$(cat)
case "$item" in
*'"id":"good"'*) echo '{"generated_code":"<p>text</p>","extracted_tokens":{"size":"8px"},"retrieved_pattern":"card","quality_score":0.75}' ;;
*'"id":"broken"'*) echo "no model is loaded" >&2; exit 7 ;;
*) echo "done" ;;
esac
"#;
    harness.write("pipeline.sh", script);
    harness.write("juror.toml", "[stages]\npipeline_command = [\"sh\", \"pipeline.sh\"]\n");
    let run = harness.juror(&["run", "manifest.jsonl", "--run-id", "first"]).exits(3);
    run.stdout_contains(&["1 of 3 scored", "2 failed"]);
    let good = harness.result("first", "good");
    assert_eq!(good["generation"]["code_compiles"], true);
    assert_eq!(good["generation"]["quality_score"], 0.75);
    assert_eq!(good["retrieval"]["correct"], true);
    assert_eq!(good["token_extraction"]["accuracy"], 1.0);
    assert_eq!(good["pipeline_success"], true);
    for (item, message) in [
        ("broken", "pipeline_command sh: exit status: 7: no model is loaded"),
        ("silent", "its answer is not the JSON object that is expected"),
    ] {
        let result = harness.result("first", item);
        assert_eq!(result["outcome"], "failed");
        assert_eq!(result["error"]["kind"], "pipeline");
        assert!(result["error"]["message"].as_str().unwrap().contains(message), "{result}");
        assert_eq!(result["semantic"], Value::Null, "the judge was off");
    }
}

#[test]
fn custom_compiler_decides_whether_code_compiles() {
    let harness = CommandHarness::with_items(3);
    let settings = r#"
[stages]
compile_command = ["sh", "-c", "grep -q 'Number 1' \"$1\" && { echo 'line 1: not so' >&2; exit 1; }; exit 0", "compiler", "{file}"]
"#;
    harness.write("juror.toml", settings);
    harness
        .juror(&["run", "manifest.jsonl", "--run-id", "first"])
        .exits(0)
        .stdout_contains(&["66.7%"]);
    let generation = |item| harness.result("first", item)["generation"].clone();
    assert_eq!(generation("item_0000")["code_compiles"], true);
    assert_eq!(generation("item_0001")["code_compiles"], false);
    assert!(generation("item_0001")["error"].as_str().unwrap().contains("line 1: not so"));

    harness.write("juror.toml", "[stages]\ncompile_command = [\"no-such-compiler\"]\n");
    let run = harness.juror(&["run", "manifest.jsonl", "--run-id", "second"]).exits(3);
    run.stdout_contains(&["3 failed", "no-such-compiler"]);
}
