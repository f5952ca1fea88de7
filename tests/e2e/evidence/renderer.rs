//! Browser failures, and inputs beyond the limits of the renderer.

use super::card::{Card, blank};
use crate::harness::CommandHarness;
use juror_services::install;
use serde_json::{Value, json};
use std::fs;

/// Script that replies to the first command and exits.
const DYING: &str = r#"head -c 1 <&3 >/dev/null; printf '{"id":1,"result":{}}\000' >&4"#;

/// Program that prints a version, records each start, and then runs this script.
fn browser(harness: &CommandHarness, script: &str) {
    let version = "[ \"$1\" = --version ] && { echo Chromium 156.0.1; exit; }";
    let program = format!("#!/bin/sh\n{version}\necho start >> \"$0.starts\"\n{script}\n");
    harness.write_program("browser", &program);
}

fn starts(harness: &CommandHarness) -> usize {
    fs::read_to_string(harness.path("browser.starts")).unwrap().lines().count()
}

fn settings(harness: &CommandHarness, mode: &str, concurrency: u32) {
    let render = format!("[render]\nbrowser = \"./browser\"\nconcurrency = {concurrency}\n");
    harness.write("juror.toml", format!("{render}[evidence]\nmode = \"{mode}\"\ntrials = 0\n"));
}

/// Writes items whose pages are all different.
fn write_pages(harness: &CommandHarness, count: u32) {
    harness.write("shot.png", blank());
    let lines = (0..count).map(|number| {
        let line = json!({"id": format!("page_{number}"), "screenshot": "shot.png",
                          "generated_code": format!("<p>{number}</p>\n"), "language": "html"});
        format!("{line}\n")
    });
    harness.write("manifest.jsonl", lines.collect::<String>());
}

#[test]
fn repeatedly_crashing_browser_is_disabled() {
    let harness = CommandHarness::new();
    write_pages(&harness, 12);
    settings(&harness, "facts", 1);
    browser(&harness, DYING);
    let run = harness.juror(&["run", "manifest.jsonl", "--run-id", "dying"]).exits(0);
    run.stdout_contains(&[
        "12 not measured",
        "Why items were not measured",
        "gave up after 5 failures",
    ]);
    let journal = harness.journal("dying");
    assert_eq!(journal.len(), 12);
    let given_up = |line: &&Value| {
        let reason = line["unmeasured"].as_str().unwrap();
        assert!(line["evidence"].is_null() && line["outcome"] == "scored", "{line}");
        reason.starts_with("the renderer gave up after 5 failures of its browser in a row")
    };
    assert!(journal.iter().filter(given_up).count() >= 9, "{journal:?}");
    assert_eq!(starts(&harness), 5);
    let report = harness.report("dying");
    assert_eq!(report["evidence"]["unmeasured"], 12);
}

#[test]
fn disabled_renderer_warns_once() {
    let harness = CommandHarness::new();
    write_pages(&harness, 12);
    settings(&harness, "facts", 1);
    browser(&harness, DYING);
    let run = harness.juror(&["run", "manifest.jsonl"]).exits(0);
    assert_eq!(run.stderr.matches("the renderer gave up").count(), 1, "{}", run.stderr);
}

#[test]
fn unstartable_browser_is_refused_by_flag_and_warned_of_by_setting() {
    let harness = CommandHarness::new();
    write_pages(&harness, 3);
    settings(&harness, "facts", 1);
    browser(&harness, "echo 'missing libnss3.so' >&2; exit 3");
    let refused = harness.juror(&["run", "manifest.jsonl", "--evidence", "facts"]).exits(2);
    refused.stderr_contains(&[
        "--evidence facts: Chromium 156.0.1 cannot be started: missing libnss3.so",
    ]);
    let warned = harness.juror(&["run", "manifest.jsonl", "--run-id", "set"]).exits(0);
    warned
        .stderr_contains(&["cannot be started: ", "; items are judged without measured evidence"]);
    let result = harness.result("set", "page_0");
    assert!(result["evidence"].is_null());
    let reason = result["unmeasured"].as_str().unwrap();
    assert!(reason.starts_with("Chromium 156.0.1 cannot be started: "), "{reason}");
    harness.juror(&["report", "set", "-o", "page.html"]).exits(0);
    let page = fs::read_to_string(harness.path("page.html")).unwrap();
    assert_eq!(page.matches("Not measured: Chromium 156.0.1 cannot be started: ").count(), 3);
}

#[test]
fn pages_without_a_sandbox_are_warned_of() {
    install::ensure("/usr/bin/chromium", "chromium");
    let harness = CommandHarness::new();
    write_pages(&harness, 2);
    settings(&harness, "facts", 1);
    // As on a system without user namespaces.
    let script =
        "case \" $* \" in *' --no-sandbox '*) exec /usr/bin/chromium \"$@\";; esac; exit 1";
    browser(&harness, script);
    let run = harness.juror(&["run", "manifest.jsonl", "--run-id", "open"]).exits(0);
    let warning = "generated code is rendered without the browser's sandbox: ";
    assert_eq!(run.stderr.matches(warning).count(), 1, "{}", run.stderr);
    assert_eq!(harness.result("open", "page_0")["generation"]["renders"], true);
}

#[test]
fn throwing_page_with_content_reports_the_exception() {
    let card = Card::of_code("<p>text</p>", "html");
    card.write_code(
        "<p>text</p><script>missing.call()</script><script>other.call()</script>",
        "html",
    );
    let result = card.run("thrown", 0);
    assert_eq!(result["evidence"]["page_error"], "missing is not defined");
    assert_eq!(result["evidence"]["regions"], json!([]));
    assert_eq!(result["generation"]["renders"], true);
    assert_eq!(card.run("kept", 0)["evidence"]["page_error"], "missing is not defined");
    card.0.juror(&["report", "thrown", "-o", "report.html"]).exits(0);
    let page = fs::read_to_string(card.0.path("report.html")).unwrap();
    assert!(page.contains("The code throws: ") && page.contains("missing is not defined"));
}

#[test]
fn unmeasurable_screenshot_is_no_finding_about_the_code() {
    let card = Card::of_code("<p>text</p>", "html");
    let large = image::RgbImage::from_pixel(4097, 8, image::Rgb([255; 3]));
    large.save(card.0.path("shot.png")).unwrap();
    let result = card.run("large", 0);
    assert!(result["evidence"].is_null() && result["generation"].get("renders").is_none());
    let reason =
        "screenshots of 4097x8 pixels exceed the limit of 4096 pixels a side and are not measured";
    assert_eq!(result["unmeasured"], reason);
    // In a single pixel, every page is alike.
    image::RgbImage::from_pixel(1, 1, image::Rgb([255; 3])).save(card.0.path("shot.png")).unwrap();
    let reason = card.run("small", 0)["unmeasured"].to_string();
    assert!(reason.contains("a screenshot of 1x1 pixels shows no page"), "{reason}");
}

#[test]
fn code_of_5_mb_is_a_finding_and_the_run_continues() {
    let harness = CommandHarness::new();
    install::ensure("/usr/bin/chromium", "chromium");
    write_pages(&harness, 1);
    let manifest = fs::read_to_string(harness.path("manifest.jsonl")).unwrap();
    let line = json!({"id": "large", "screenshot": "shot.png", "generated_code": "large.html"});
    harness.write("manifest.jsonl", format!("{line}\n{manifest}"));
    harness.write("large.html", format!("<p>{}</p>", "x".repeat(5_000_000)));
    let flags = ["run", "manifest.jsonl", "--run-id", "large", "--evidence", "facts"];
    harness.juror(&flags).exits(0).stdout_contains(&["the code is larger than 4 MB: large.html"]);
    let result = harness.result("large", "large");
    let reason = json!({"error": "the code is larger than 4 MB: large.html"});
    assert_eq!((&result["outcome"], &result["evidence"]), (&json!("scored"), &reason));
    assert_eq!(result["generation"]["renders"], false);
    assert_eq!(result["generation"]["code_compiles"], false);
    assert_eq!(result["pipeline_success"], false);
    assert_eq!(harness.result("large", "page_0")["generation"]["renders"], true);
}
