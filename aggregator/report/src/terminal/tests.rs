//! Complete reports, compared with snapshots.

use super::*;
use juror_analysis::test_fixtures::{
    ACRUE, SEMANTIC, broken, judged, ledger, record, report_of, restyled, staged,
};
use juror_types::{
    id::JobId,
    outcome::{ErrorKind, JobResult, Outcome},
    run::RunRecord,
    usage::Money,
};

const ICON: &str = "Missing icon in the button";
const PADDING: &str = "Padding slightly off (12px used, should be 16px)";
const VARIANT: &str = "The variant is the right one";
const COLOURS: &str = "All colours match the tokens";

fn golden_results() -> Vec<JobResult> {
    let sound = [10, 9, 10, 10, 9];
    let mut results = vec![
        judged("alert_error", sound, &[], &[VARIANT, COLOURS]),
        judged("badge_new", [9, 9, 10, 10, 9], &[], &[VARIANT]),
        judged("button_icon_missing", [7, 9, 10, 4, 9], &[ICON], &[VARIANT, COLOURS]),
        judged("button_primary", sound, &[], &[VARIANT, COLOURS]),
        judged("button_secondary", [4, 5, 5, 9, 9], &["Secondary variant instead of primary"], &[]),
        judged("button_with_icon", [8, 9, 10, 8, 9], &["missing icon in the button!"], &[VARIANT]),
        judged("card_padding", [8, 7, 10, 10, 8], &[PADDING], &[VARIANT]),
        judged("card_product", sound, &[], &[VARIANT, COLOURS]),
        judged(
            "card_product_narrow_with_a_rather_long_name",
            [8, 7, 10, 10, 7],
            &["padding slightly off (8px used, should be 1rem)"],
            &[],
        ),
        judged("form_login", [9, 9, 10, 10, 9], &[], &[VARIANT]),
        judged(
            "form_signup",
            [6, 8, 10, 6, 5],
            &["The password field is missing", "Labels stand beside the fields, not above them"],
            &[COLOURS],
        ),
        judged("modal_confirm", sound, &[], &[VARIANT, COLOURS]),
        judged("nav_tabs", [9, 10, 10, 10, 10], &[], &[VARIANT, COLOURS]),
        judged(
            "navbar_dark",
            [8, 6, 10, 10, 9],
            &["Background is #111827 instead of #1F2937"],
            &[VARIANT],
        ),
        judged("pagination", [9, 9, 10, 9, 9], &["The current page is not marked"], &[VARIANT]),
        judged("table_orders", [9, 9, 10, 10, 9], &[], &[VARIANT]),
    ];
    for result in &mut results {
        let cluster = result.screenshot_id.split('_').next().map(str::to_owned);
        result.item.cluster = cluster;
    }
    results.push(broken(
        "table_users",
        Outcome::Unscorable,
        ErrorKind::Reply,
        "the answer was cut off at 1,000 tokens three times: raise max_output_tokens",
    ));
    results.push(broken(
        "tooltip_top",
        Outcome::Failed,
        ErrorKind::Api,
        "the vision API answered 503 five times",
    ));
    results
}

fn semantic() -> (RunRecord, Vec<JobResult>) {
    (record(SEMANTIC, 18), golden_results())
}

fn judge_off() -> (RunRecord, Vec<JobResult>) {
    let mut record = record(SEMANTIC, 6);
    record.judge = None;
    let mut results: Vec<JobResult> =
        ["badge", "button", "card", "form", "nav", "table"].map(staged).into();
    results[1].pipeline_success = Some(false);
    results[1].retrieval = None;
    results[4].pipeline_success = Some(false);
    results[4].generation.as_mut().unwrap().code_compiles = Some(false);
    results[5] = broken(
        "table",
        Outcome::Failed,
        ErrorKind::Image,
        "shots/table.png is cut off after 812 bytes: render it again",
    );
    (record, results)
}

fn acrue() -> (RunRecord, Vec<JobResult>) {
    let results = vec![
        restyled("fox_ukiyo_e", [4, 5, 4, 3, 4], &["The tail has a hard edge"]),
        restyled("harbour_oil", [5, 5, 5, 5, 5], &[]),
        restyled("portrait_pixel_art", [2, 3, 3, 2, 2], &["The face is another person's"]),
        restyled("street_watercolour", [4, 4, 4, 4, 3], &["The sign is unreadable"]),
    ];
    (record(ACRUE, 4), results)
}

fn all_failed() -> (RunRecord, Vec<JobResult>) {
    let message = "the vision API refuses the key (401): set OPENAI_API_KEY and run `juror retry`";
    let ids = ["button", "card", "form"];
    let results = ids.map(|id| broken(id, Outcome::Failed, ErrorKind::Account, message)).into();
    (record(SEMANTIC, 5), results)
}

fn one_item() -> (RunRecord, Vec<JobResult>) {
    let mut result = judged("button_primary", [10; 5], &[], &[VARIANT]);
    (result.cached, result.attempts, result.cost_usd) = (true, 0, Money::ZERO);
    result.estimate = None;
    result.usage = Default::default();
    (record(SEMANTIC, 1), vec![result])
}

fn simulated() -> (RunRecord, Vec<JobResult>) {
    let (mut record, mut results) = semantic();

    results.truncate(4);
    record.planned = 4;
    results.iter_mut().for_each(|result| result.judge.as_mut().unwrap().simulated = true);
    (record, results)
}

fn repeated() -> (RunRecord, Vec<JobResult>) {
    let result = |(item, repeat): (u32, u32)| {
        let noise = (item * 5 + repeat * 7) % 4 / 2;
        let scores = [9 - item % 5, 9 - noise, 10 - item % 3, 10 - noise * 2, 8];
        let mut result = judged(&format!("shot_{item:02}"), scores, &[], &[VARIANT]);
        result.repeat = repeat;
        result.job_id = JobId::for_item(&result.run_id, &result.screenshot_id, repeat);
        result
    };
    let jobs = (0..6).flat_map(|item| (0..3).map(move |repeat| (item, repeat)));
    (RunRecord { repeat: 3, ..record(SEMANTIC, 18) }, jobs.map(result).collect())
}

fn ten_thousand() -> (RunRecord, Vec<JobResult>) {
    let result = |number: u32| {
        let score = |shift: u32| 10 - (number / 7 + shift * number) % 5 * (number % 3) / 2;
        let scores = [score(1), score(2), 10 - number % 97 / 96 * 5, score(3), score(4)];
        let issues: &[&str] = if number.is_multiple_of(9) { &[PADDING] } else { &[] };
        judged(&format!("shot_{number:05}"), scores, issues, &[VARIANT])
    };
    (record(SEMANTIC, 10_000), (0..10_000).map(result).collect())
}

type Case = (&'static str, fn() -> (RunRecord, Vec<JobResult>), Option<&'static str>);

const CASES: [Case; 8] = [
    ("semantic", semantic, Some("targets")),
    ("judge_off", judge_off, Some("targets")),
    ("acrue", acrue, Some("targets")),
    ("all_failed", all_failed, Some("production")),
    ("one_item", one_item, None),
    ("simulated", simulated, None),
    ("repeated", repeated, None),
    ("ten_thousand", ten_thousand, Some("production")),
];

fn rendered(case: &Case, options: TerminalOptions) -> String {
    let (_, run, gate) = case;
    let (record, results) = run();
    let presumed = if case.0 == "semantic" { "0.015".parse().unwrap() } else { Money::ZERO };
    let ledger = ledger(&results, presumed);
    render(&report_of(&record, &results, *gate, Some(ledger)).0, options)
}

const PLAIN: TerminalOptions = TerminalOptions { width: 80, color: false };

#[test]
fn terminal_reports_match_snapshots() {
    for case in &CASES {
        insta::assert_snapshot!(case.0, rendered(case, PLAIN));
    }
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    use unicode_width::UnicodeWidthStr as _;
    for case in &CASES[..7] {
        for width in [74, 80, 120] {
            for line in rendered(case, TerminalOptions { width, color: false }).lines() {
                assert!(line.width() <= width, "{} at {width}: {line:?}", case.0);
            }
        }
    }
}

#[test]
fn a_simulated_run_is_marked_in_its_heading_and_beside_every_score() {
    let text = rendered(&CASES[5], PLAIN);
    assert!(text.lines().next().unwrap().contains("SIMULATED"));
    for label in ["Semantic Correctness", "Visual Similarity", "Variant Accuracy", "SCREENSHOTS"] {
        let line = text.lines().find(|line| line.trim_start().starts_with(label)).unwrap();
        assert!(line.contains("SIMULATED"), "{line}");
    }
    assert!(!rendered(&CASES[0], PLAIN).contains("SIMULATED"));
}
