use super::*;
use juror_analysis::test_fixtures::{
    ACRUE, SEMANTIC, broken, judged, record, report_of, restyled, staged,
};
use juror_types::{
    outcome::{ErrorKind, Outcome},
    run::{RunRecord, StageCommands, StageTerms},
};

const HOSTILE: &str = "</testcase>]]>&\"'\u{0}\u{1b}[2J\u{fffe}\u{202e}\n<x>";

fn suite(rubric: &str, results: &[JobResult]) -> String {
    suite_of(rubric, results.len() as u64, results)
}

fn suite_of(rubric: &str, planned: u64, results: &[JobResult]) -> String {
    suite_by(Some(terms(None)), &record(rubric, planned), results)
}

/// Thresholds of a run on one machine.
fn terms(correctness: Option<f64>) -> StageTerms {
    StageTerms { token_accuracy: 0.8, correctness, commands: StageCommands::default() }
}

fn suite_by(stages: Option<StageTerms>, record: &RunRecord, results: &[JobResult]) -> String {
    let record = RunRecord { stages, ..record.clone() };
    let (report, directory, _runs) = report_of(&record, results, None, None);
    let mut suite = Vec::new();
    write(&report, directory.files(), &mut suite).unwrap();
    String::from_utf8(suite).unwrap()
}

#[test]
fn outcomes_map_to_junit_statuses() {
    let mut stopped = judged("stopped", [10; 5], &[], &[]);
    stopped.pipeline_success = Some(false);
    stopped.generation.as_mut().unwrap().code_compiles = Some(false);
    let mut unjudged = staged("unjudged");
    unjudged.judge = None;
    let suite = suite(
        SEMANTIC,
        &[
            judged("good", [10; 5], &[], &[]),
            judged("low", [5, 9, 10, 8, 9], &["Missing icon"], &[]),
            stopped,
            unjudged,
            broken("lost", Outcome::Failed, ErrorKind::Api, "503"),
            broken("vague", Outcome::Unscorable, ErrorKind::Reply, "no verdict"),
            broken("late", Outcome::Skipped, ErrorKind::Budget, "no budget"),
        ],
    );
    for part in [
        r#"tests="7" failures="2" errors="2" skipped="1" time="8.590""#,
        r#"<failure type="score" message="scored 82%, must be above 85%">- Missing icon"#,
        r#"<failure type="pipeline" message="did not pass: the code does not compile">"#,
        r#"<error type="api" message="503"/>"#,
        r#"<error type="reply" message="no verdict"/>"#,
        r#"<skipped message="no budget"/>"#,
        "\nscore: 0.82\n",
        r#"<property name="endpoint" value="https://api.openai.com/v1"/>"#,
        r#"<property name="judged_part" value="only those judged before the budget ended, which left 1 job unjudged"/>"#,
    ] {
        assert!(suite.contains(part), "no {part} in:\n{suite}");
    }
    assert!(!suite.contains(SIMULATED));
}

#[test]
fn pending_jobs_are_an_error() {
    let suite = suite_of(SEMANTIC, 400, &[judged("good", [10; 5], &[], &[])]);
    assert!(suite.contains(r#"<testsuites name="juror" tests="2" failures="0" errors="1""#));
    let message = "399 of 400 jobs have no result: resume run ";
    let error = format!(r#"<error type="pending" message="{message}"#);
    assert!(suite.contains("value=\"399 of 400 jobs have no result yet\""), "{suite}");
    assert!(suite.contains(&error), "{suite}");
}

#[test]
fn unpublished_jobs_of_a_cancelled_run_are_an_error() {
    let results = [judged("good", [10; 5], &[], &[])];
    let record = RunRecord { published: Some(1), ..record(SEMANTIC, 400) };
    let suite = suite_by(Some(terms(None)), &record, &results);
    assert!(suite.contains(r#"<testsuites name="juror" tests="2" failures="0" errors="1""#));
    let message = "the run was cancelled before 399 of 400 jobs";
    let error = format!(r#"<error type="unpublished" message="{message}"#);
    assert!(suite.contains(&error), "{suite}");
}

#[test]
fn invalid_xml_characters_are_removed_and_the_rest_is_escaped() {
    let mut result = judged(HOSTILE, [5; 5], &[HOSTILE], &[]);
    result.item.cluster = Some(HOSTILE.into());
    let suite = suite(SEMANTIC, &[result, broken("b", Outcome::Failed, ErrorKind::Api, HOSTILE)]);
    let text = "&lt;/testcase&gt;]]&gt;&amp;&quot;'  [2J   &lt;x&gt;";
    assert_eq!(suite.matches(text).count(), 4, "{suite}");
    assert!(!suite.contains(['\u{0}', '\u{1b}', '\u{fffe}', '\u{202e}']));
}

#[test]
fn graded_run_uses_its_own_pass_mark() {
    let mut passed = restyled("fox", [4, 5, 4, 3, 4], &[]);
    passed.pipeline_success = Some(true);
    passed.judge.as_mut().unwrap().simulated = true;
    let mut failed = restyled("lake", [2; 5], &["Dull"]);
    failed.pipeline_success = Some(false);
    let suite = suite(ACRUE, &[passed, failed]);
    assert!(suite.contains(r#"message="scored 40%, must be at least 70%""#), "{suite}");
    assert!(suite.contains("\ngrade: A\n"), "{suite}");
    assert!(suite.contains(r#"<property name="simulated" value="SIMULATED"/>"#), "{suite}");
    assert_eq!(suite.matches("\nsimulated: SIMULATED\n").count(), 1);
}

#[test]
fn failures_are_those_of_the_pipeline_and_name_the_applied_threshold() {
    let item = |id: &str, passed: bool, tokens: f64| {
        let mut result = judged(id, [8, 8, 8, 9, 9], &[], &[]);
        result.pipeline_success = Some(passed);
        result.token_extraction.as_mut().unwrap().accuracy = tokens;
        result
    };
    let record = record(SEMANTIC, 2);
    let suite = |stages, passed| {
        suite_by(stages, &record, &[item("good", passed, 0.92), item("tokens", false, 0.8)])
    };
    let low = suite(Some(terms(Some(0.5))), true);
    assert!(low.contains(r#"tests="2" failures="1""#), "{low}");
    let tokens = r#"message="did not pass: token accuracy 80%, must be above 80%""#;
    assert!(low.contains(tokens), "{low}");
    let high = suite(Some(terms(Some(0.95))), false);
    assert!(high.contains(r#"<failure type="score" message="scored 84%, must be above 95%">"#));
    let both = r#"message="scored 84%, must be above 95%; token accuracy 80%, must be above 80%""#;
    assert!(high.contains(both), "{high}");
    let unknown = suite(None, false);
    let figures = "did not pass: scored 84%; token accuracy 92% (the record of the run has no ";
    assert!(unknown.contains(figures), "{unknown}");
}
