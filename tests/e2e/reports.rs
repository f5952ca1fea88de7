//! Contents of a run's report, its failures included.

use crate::harness::{CommandHarness, Recorder, completion, semantic_verdict};
use serde_json::{Value, json};

fn reply(scores: [u64; 5], issues: &[&str], strengths: &[&str]) -> (u16, Value) {
    completion(&semantic_verdict(scores, issues, strengths), 1_000, 50)
}

/// Four items in sequence: two scored, one without a verdict, one refused.
fn mixed() -> (CommandHarness, Recorder) {
    let harness = CommandHarness::with_items(4);
    let no_verdict = completion("I like it.", 1_000, 50);
    let judge = Recorder::start(vec![
        reply([9, 8, 10, 10, 9], &["Padding is 12px, should be 16px"], &["Right colors"]),
        reply([7, 6, 10, 5, 7], &["Padding is 8px, should be 12px"], &["Right colors"]),
        no_verdict.clone(),
        no_verdict.clone(),
        no_verdict,
        (400, json!({"error": {"message": "no", "code": "no"}})),
    ]);
    (harness, judge)
}

#[test]
fn unjudged_items_are_shown_and_excluded_from_averages() {
    let (harness, judge) = mixed();
    let run = harness.judge(&judge.base_url(), "manifest.jsonl", &["-j", "1"]).exits(3);
    run.stdout_contains(&[
        "SEMANTIC EVALUATION",
        "2 of 4 scored (50%), 1 unscorable, 1 failed",
        "81%",
        "8/10",
        "(2/2 perfect)",
        "(1/2 perfect,",
        "Common Issues:",
        "Common Strengths:",
        "Right colors (2 items, 100%)",
        "PIPELINE",
        "failed (request): the vision API refused",
        "unscorable (reply): none of 3 replies is usable",
    ]);
    assert!(!run_is_marked(&harness), "a real server's verdicts are no simulated ones");
    let report = harness.report("first");
    let semantic = &report["overall"]["semantic"];
    assert_eq!(semantic["avg_semantic_correctness"], 0.81);
    assert_eq!(semantic["avg_visual_similarity"], 8.0);
    assert_eq!(semantic["variant_accuracy_rate"], 1.0);
    assert_eq!(semantic["feature_completeness_rate"], 0.5);
    let coverage = &report["coverage"];
    let counts = ["planned", "scored", "unscorable", "failed", "skipped"];
    assert_eq!(counts.map(|name| coverage[name].as_u64().unwrap()), [4, 2, 1, 1, 0]);
    let interval = &report["intervals"]["semantic.avg_semantic_correctness"];
    assert_eq!(interval["n"], 2);
    assert_eq!(report["common_strengths"][0]["items"], json!(["item_0000", "item_0001"]));
    assert_eq!(report["items"].as_array().unwrap().len(), 4);
}

fn run_is_marked(harness: &CommandHarness) -> bool {
    harness.report("first")["run"]["simulated"] == true
}

#[test]
fn failed_jobs_count_as_zeros_if_configured() {
    let (harness, judge) = mixed();
    harness.write("juror.toml", "[run]\nfailed_jobs = \"zero\"\n");
    let run = harness.judge(&judge.base_url(), "manifest.jsonl", &["-j", "1"]).exits(3);
    run.stdout_contains(&["failed_jobs = \"zero\""]);
    let report = harness.report("first");
    // Of the two scored items and the failed one; an unusable reply is never a score.
    assert_eq!(report["overall"]["semantic"]["avg_semantic_correctness"], 0.54);
}

#[test]
fn judge_text_is_neutralized_in_terminals_and_spreadsheets() {
    let harness = CommandHarness::with_items(2);
    let issues = ["=HYPERLINK(1)", "\u{1b}[2J\u{1b}[31mred\u{7}\nSecond line", "right\u{202e}left"];
    let refusal = json!({"error": {"message": "\u{1b}[2Jgone", "code": "no"}});
    let judge = Recorder::start(vec![reply([5; 5], &issues, &[]), (400, refusal)]);
    let flags = ["-j", "1", "-o", "report.csv"];
    let run = harness.judge(&judge.base_url(), "manifest.jsonl", &flags).exits(3);
    let csv = std::fs::read_to_string(harness.path("report.csv")).unwrap();
    for (text, name) in [(&run.stdout, "report"), (&run.stderr, "messages"), (&csv, "table")] {
        let odd = text.chars().find(|character| character.is_control() && *character != '\n');
        assert_eq!(odd, None, "{name}:\n{text}");
    }
    assert!(!run.stdout.contains('\u{202e}'), "{}", run.stdout);
    assert!(!csv.contains(",=HYPERLINK"), "{csv}");
    assert_eq!(
        harness.result("first", "item_0000")["semantic"]["issues"][0],
        issues[0],
        "verbatim"
    );
}
