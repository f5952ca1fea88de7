//! Files for other programs, validated by independent programs.

use crate::harness::{CommandHarness, Recorder, completion, repository, verdict};
use juror_services::install;
use serde_json::json;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// Validator of files against one of the published schemas.
pub fn check(schema: &str, files: &[PathBuf]) -> Output {
    let python = install::python_with("jsonschema==4.26.0", "jsonschema");
    Command::new(python)
        .arg(repository("tests/e2e/formats/schema.py"))
        .arg(repository(&format!("docs/schemas/{schema}.schema.json")))
        .args(files)
        .output()
        .unwrap()
}

#[track_caller]
pub fn holds(output: &Output) {
    let message = [output.stdout.as_slice(), &output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&message));
}

/// A run of each kind, each in a harness of its own, with all files that other programs read.
fn runs() -> Vec<CommandHarness> {
    let mut runs = vec![
        demo(&["demo", "--evidence", "none", "--run-id", "first"]),
        demo(&["demo", "--acrue", "--run-id", "first"]),
    ];
    let unjudged = CommandHarness::with_items(3);
    unjudged.juror(&["run", "manifest.jsonl", "--run-id", "first"]).exits(0);
    runs.push(unjudged);

    let failed = CommandHarness::with_items(3);
    let judge = Recorder::start(vec![(400, json!({"error": {"message": "no", "code": "no"}}))]);
    failed.judge(&judge.base_url(), "manifest.jsonl", &["--gate", "production"]).exits(100);
    runs.push(failed);

    let penniless = CommandHarness::with_items(3);
    let flags = ["--budget-usd", "0.000001"];
    penniless.judge(&judge.base_url(), "manifest.jsonl", &flags).exits(3);
    runs.push(penniless);

    // State of a run that was cancelled halfway.
    let half = demo(&["demo", "--evidence", "none", "--run-id", "first"]);
    let journal = half.path("runs/first/results.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let kept: Vec<&str> = text.lines().take(5).collect();
    fs::write(&journal, kept.join("\n") + "\n").unwrap();
    let record = half.path("runs/first/run.json");
    let mut cancelled: serde_json::Value =
        serde_json::from_slice(&fs::read(&record).unwrap()).unwrap();
    cancelled["published"] = json!(7);
    fs::write(record, cancelled.to_string()).unwrap();
    runs.push(half);

    runs.push(compared_and_repeated());

    for harness in &runs {
        let outputs = ["-o", "all.jsonl", "-o", "all.junit.xml", "-o", "all.md", "-o", "all.html"];
        let has_baseline = harness.path("runs/base").exists();
        let baseline: &[&str] = if has_baseline { &["--baseline", "base"] } else { &[] };
        harness.juror(&[&["report", "first"], outputs.as_slice(), baseline].concat());
    }
    runs
}

/// Run that judged its items twice, not always equally, and is a regression from its baseline.
fn compared_and_repeated() -> CommandHarness {
    let harness = CommandHarness::with_items(6);
    let judge_of = |scores: &[u64]| {
        Recorder::start(scores.iter().map(|score| completion(&verdict(*score), 900, 50)).collect())
    };
    let base = judge_of(&[9, 8, 9, 8, 9, 9]);
    let url = base.base_url();
    let flags = ["run", "manifest.jsonl", "--run-id", "base", "--enable-llm-judge", "-j", "1"];
    harness.juror(&[&flags[..], &["--base-url", &url]].concat()).exits(0);
    let head = judge_of(&[6, 5, 6, 6, 9, 8, 5, 5, 6, 4, 7, 7]);
    let flags = ["--repeat", "2", "--baseline", "base", "--no-cache", "-j", "1"];
    harness.judge(&head.base_url(), "manifest.jsonl", &flags).exits(100);
    harness
}

fn demo(arguments: &[&str]) -> CommandHarness {
    let harness = CommandHarness::new();
    harness.juror(arguments).exits(0);
    harness
}

#[test]
fn files_match_their_published_schemas() {
    let runs = runs();
    let of_all = |name: &str| runs.iter().map(|run| run.path(name)).collect::<Vec<_>>();
    let outcomes = ["scored", "scored", "scored", "failed", "skipped", "pending", "scored"];
    for (run, outcome) in runs.iter().zip(outcomes) {
        assert!(run.report("first")["coverage"][outcome].as_u64() > Some(0), "{outcome}");
    }
    holds(&check("report", &of_all("runs/first/report.json")));
    holds(&check("result", &of_all("runs/first/results.jsonl")));
    holds(&check("result", &of_all("all.jsonl")));
    holds(&xmllint(&of_all("all.junit.xml")));
    for page in of_all("all.html") {
        assert!(fs::read_to_string(page).unwrap().ends_with("</body></html>\n"));
    }
    for comment in of_all("all.md") {
        assert!(fs::read_to_string(comment).unwrap().starts_with("## Juror: "));
    }
    let compared = runs.last().unwrap();
    let report = compared.report("first");
    assert_eq!(
        (&report["comparison"]["decision"], &report["repeats"]["score"]["items"]),
        (&json!("worse"), &json!(6))
    );
    let has = |file: &str, words: &[&str]| {
        let text = fs::read_to_string(compared.path(file)).unwrap();
        for word in words {
            assert!(text.contains(word), "{word} in {file}");
        }
    };
    let linked =
        "Regressed <span class=\"faint\">(6)</span></summary><ul class=\"listed\"><li><a href=\"#i";
    has(
        "all.html",
        &[
            "<h2 id=\"comparison\">Comparison",
            "Worse: ",
            linked,
            "<h2 id=\"repeats\">Repeats",
            "svg class=\"range change\"",
        ],
    );
    has(
        "all.md",
        &["### ❌ Worse: ", "base base · head ", "| Layout Accuracy | ", "- Regressed (6): item"],
    );
}

#[test]
fn schema_rejects_other_documents() {
    let harness = demo(&["demo", "--evidence", "none", "--run-id", "first"]);
    let mut report = harness.report("first");
    report["coverage"]["scored"] = json!("27");
    report["overall"]["extra"] = json!({});
    let path = harness.write("wrong.json", report.to_string());
    let output = check("report", &[path]);
    let message = String::from_utf8(output.stdout).unwrap();
    assert!(!output.status.success());
    assert!(
        message.contains("$.coverage.scored") && message.contains("'extra' was unexpected"),
        "{message}"
    );
}

fn xmllint(files: &[PathBuf]) -> Output {
    let program = "/usr/bin/xmllint";
    install::ensure(program, "libxml2-utils");
    let schema = repository("tests/e2e/formats/junit.xsd");
    Command::new(Path::new(program))
        .args(["--noout", "--nonet", "--schema", &schema])
        .args(files)
        .output()
        .unwrap()
}

#[test]
fn hostile_names_are_escaped_in_every_file() {
    let harness = CommandHarness::new();
    let id = "=cmd()|</testcase>]]>&\u{fffe}<script>";
    let line = json!({"id": id, "screenshot": "a.png", "quality_score": 0.5, "tags": ["@all"]});
    harness.write("a.png", crate::harness::png(1, 8, 8));
    harness.write("manifest.jsonl", format!("{line}\n"));
    let outputs = ["-o", "all.csv", "-o", "all.junit.xml", "-o", "all.md", "-o", "all.html"];
    let run = ["run", "manifest.jsonl", "--run-id", "first"];
    harness.juror(&[&run[..], &outputs].concat()).exits(0);
    let read = |name: &str| fs::read_to_string(harness.path(name)).unwrap();
    assert!(read("all.csv").contains("\n'=cmd()"));
    assert!(read("all.md").contains("| =cmd()&#124;&#60;/testcase"));
    assert!(
        read("all.html").contains("=cmd()|&lt;/testcase&gt;")
            && !read("all.html").contains("<script>]")
    );
    holds(&xmllint(&[harness.path("all.junit.xml")]));
}
