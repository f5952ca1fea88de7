//! Reports in every format, from the journal on.

use crate::{
    NoAttachments, OutputError, OutputFormat, TerminalOptions, render_terminal, write_output,
};
use juror_analysis::{
    compare_runs::{Side, compare},
    run_report::Report,
    stability::ItemStability,
    test_fixtures::{SEMANTIC, broken, comparisons::RULES, judged, ledger, record, report_of},
};
use juror_types::outcome::{ErrorKind, JobResult, Outcome};
use juror_types::usage::Money;
use serde_json::Value;
use std::path::Path;

fn results() -> Vec<JobResult> {
    let mut retried = broken("b", Outcome::Failed, ErrorKind::Api, "the API answered 503");
    retried.cost_usd = "0.002".parse().unwrap();
    let mut again = judged("b", [8, 8, 10, 9, 9], &["Missing icon"], &[]);
    again.round = 1;
    vec![
        judged("c", [9; 5], &["missing icon!"], &["All colours match"]),
        retried,
        judged("a", [10; 5], &[], &["All colours match"]),
        again,
    ]
}

#[test]
fn report_json_has_every_documented_field() {
    let results = results();
    let presumed: Money = "0.01".parse().unwrap();
    let ledger = ledger(&results, presumed);
    let (report, directory, _runs) =
        report_of(&record(SEMANTIC, 4), &results, Some("targets"), Some(ledger));
    let path = directory.files().path_of("report.json");
    write_output(&path, &report, directory.files(), &NoAttachments).unwrap();
    let written: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let keys: Vec<&String> = written.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "schema",
            "run",
            "overall",
            "intervals",
            "coverage",
            "cost",
            "targets",
            "verdict_checks",
            "common_issues",
            "common_strengths",
            "warnings",
            "items"
        ]
    );
    assert_eq!(written["run"]["id"], "nightly-2026-11-21");
    assert_eq!(written["intervals"]["semantic.avg_semantic_correctness"]["n"], 3);
    let coverage = serde_json::json!(
        {"planned": 4, "scored": 3, "no_output": 0, "unscorable": 0, "failed": 0, "skipped": 0,
         "pending": 1}
    );
    assert_eq!(written["coverage"], coverage);
    assert_eq!(written["cost"]["results_usd"], "0.019782500");
    assert_eq!(written["cost"]["presumed_usd"], "0.010000000");
    assert_eq!(written["cost"]["total_usd"], "0.029782500");
    assert_eq!(written["cost"]["estimate_error"], Value::Null);
    let issue = serde_json::json!(
        {"label": "Missing icon", "grouped_by": "words", "count": 2, "share": 0.666666667, "examples": [],
         "worst": ["b", "c"], "items": ["b", "c"]}
    );
    assert_eq!(written["common_issues"][0], issue);
    let items = written["items"].as_array().unwrap();
    let ids: Vec<&str> = items.iter().map(|item| item["screenshot_id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["a", "b", "c"]);
    assert_eq!(items[1]["semantic"]["semantic_correctness"], 0.88);
    assert!(!written.to_string().contains("\"reply\""));
}

#[test]
fn journal_order_changes_only_the_streak() {
    let results = results();
    let forward = report_of(&record(SEMANTIC, 3), &results, None, None).0;
    let reversed: Vec<JobResult> = results.into_iter().rev().collect();
    let backward = report_of(&record(SEMANTIC, 3), &reversed, None, None).0;
    let options = TerminalOptions { width: 80, color: false };
    assert_eq!(render_terminal(&forward, options), render_terminal(&backward, options));
    assert_eq!(forward.cost, backward.cost);
    assert_eq!(forward.worst, backward.worst);
    let issues = |report: &Report| -> Vec<Vec<String>> {
        let ids = |items: &[u32]| items.iter().map(|item| report.items.id(*item).into()).collect();
        report.common_issues.iter().map(|group| ids(&group.items)).collect()
    };
    assert_eq!(issues(&forward), issues(&backward));
}

#[test]
fn committed_cost_is_always_part_of_the_total() {
    let results = results();
    let mut ledger = ledger(&results, Money::ZERO);
    // A settled call of a job that has no result yet.
    ledger.committed += "0.004".parse().unwrap();
    let (report, ..) = report_of(&record(SEMANTIC, 4), &results, None, Some(ledger));
    assert_eq!(report.cost.total_usd, ledger.committed);
    assert!(report.warnings.is_empty(), "{:?}", report.warnings);
    // A call in flight, or of a dead process and not swept yet.
    ledger.outstanding = "0.002".parse().unwrap();
    let (report, ..) = report_of(&record(SEMANTIC, 4), &results, None, Some(ledger));
    assert_eq!(report.cost.presumed_usd, ledger.outstanding);
    assert_eq!(report.cost.total_usd, ledger.committed + ledger.outstanding);
}

#[test]
fn run_cost_is_at_least_the_sum_of_its_results() {
    let results = results();
    let mut ledger = ledger(&results, Money::ZERO);
    let lost = || "-0.01".parse().unwrap();
    (ledger.committed, ledger.outstanding) = (Money::ZERO, lost());
    (ledger.presumed, ledger.unattributed_cost) = (lost(), lost());
    let (report, ..) = report_of(&record(SEMANTIC, 4), &results, None, Some(ledger));
    assert_eq!(report.cost.total_usd, report.cost.results_usd);
    assert_eq!(report.cost.presumed_usd, Money::ZERO);
}

#[test]
fn open_lease_counts_as_spent() {
    let results = results();
    let mut ledger = ledger(&results, "0.01".parse().unwrap());
    // The process died, and its run has not been resumed yet.
    ledger.outstanding = "0.02".parse().unwrap();
    let (report, ..) = report_of(&record(SEMANTIC, 4), &results, None, Some(ledger));
    assert_eq!(report.cost.presumed_usd, "0.03".parse().unwrap());
    assert_eq!(report.cost.total_usd, ledger.committed + ledger.outstanding);
}

#[test]
fn the_estimate_is_compared_when_every_job_has_ended() {
    let (report, ..) = report_of(&record(SEMANTIC, 3), &results(), None, None);
    let expected = (0.0197825 - 0.018) / 0.018;
    assert!((report.cost.estimate_error.unwrap() - expected).abs() < 1e-6);
    assert!(report.warnings[0].contains("the ledger has no record"), "{:?}", report.warnings);
}

#[test]
fn the_other_formats_hold_the_results_that_count() {
    let (report, directory, runs) = report_of(&record(SEMANTIC, 3), &results(), None, None);
    let written = |name: &str| {
        let path = runs.path().join(name);
        write_output(&path, &report, directory.files(), &NoAttachments).unwrap();
        std::fs::read_to_string(path).unwrap()
    };
    let lines = written("x.JSONL");
    let rounds: Vec<u32> =
        lines.lines().map(|line| serde_json::from_str::<JobResult>(line).unwrap().round).collect();
    assert_eq!(rounds, [0, 1, 0]);
    assert_eq!(written("x.csv").lines().count(), 4);
}

#[test]
fn unknown_run_end_adds_no_cost() {
    let error = |name: &str| OutputFormat::from_path(Path::new(name)).unwrap_err();
    assert!(error("report.yaml").to_string().contains(".json, .jsonl, .csv"));
    assert!(matches!(error("report"), OutputError::UnknownEnding { .. }));
    assert!(matches!(error("r.xml"), OutputError::UnknownEnding { .. }));
}

#[test]
fn uncounted_issues_are_warned_of_in_report_and_comparison() {
    // Unknown words, all different.
    let word = |number: usize| -> String {
        (0..7_u32).map(|place| char::from(b"kqvwxz"[number / 6_usize.pow(place) % 6])).collect()
    };
    let words: Vec<String> = (0..50_003).map(word).collect();
    let issues: Vec<&str> = words.iter().map(String::as_str).collect();
    let talkative = vec![judged("shot", [9; 5], &issues, &[])];
    let (report, directory, _runs) = report_of(&record(SEMANTIC, 1), &talkative, None, None);
    assert_eq!(report.uncounted_issues, 3);
    let warned = |text: &str| text.contains("3 issues and strengths are not listed");
    assert!(report.warnings.iter().any(|warning| warned(warning)), "{:?}", report.warnings);
    for name in ["report.json", "report.html", "report.md"] {
        let path = directory.files().path_of(name);
        write_output(&path, &report, directory.files(), &NoAttachments).unwrap();
        assert!(warned(&std::fs::read_to_string(path).unwrap()), "{name}");
    }
    let options = TerminalOptions { width: 200, color: false };
    assert!(warned(&render_terminal(&report, options).replace('\u{2007}', " ")));

    let quiet = vec![judged("shot", [9; 5], &issues[..2], &[])];
    let (before, base, _runs) = report_of(&record(SEMANTIC, 1), &quiet, None, None);
    let found = compare(
        Side { report: &before, files: base.files() },
        Side { report: &report, files: directory.files() },
        RULES,
        &ItemStability::default(),
    );
    let warnings = found.unwrap().warnings;
    assert!(warnings[0].starts_with("3 issues of the head have no known kind"), "{warnings:?}");
}
