use super::*;
use juror_analysis::test_fixtures::{
    ACRUE, SEMANTIC, broken, judged, record, report_of, restyled, staged,
};

const HOSTILE: &str = "</testcase>]]>&\"'\u{0}\u{1b}[2J\u{fffe}\u{202e}\n<x>";

fn suite(rubric: &str, results: &[JobResult]) -> String {
    suite_of(rubric, results.len() as u64, results)
}

fn suite_of(rubric: &str, planned: u64, results: &[JobResult]) -> String {
    let record = record(rubric, planned);
    let (report, directory, _runs) = report_of(&record, results, None, None);
    let read = || report.items.read(directory.files()).unwrap();
    let mut suite = Vec::new();
    write(&report, TestCounts::from_report(&report, read()).unwrap(), read(), &mut suite).unwrap();
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
        r#"<failure type="pipeline" message="did not pass: the code does not compile; token accuracy 92%">"#,
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
    passed.judge.as_mut().unwrap().simulated = true;
    let suite = suite(ACRUE, &[passed, restyled("lake", [2; 5], &["Dull"])]);
    assert!(suite.contains(r#"message="scored 40%, must be at least 70%""#), "{suite}");
    assert!(suite.contains("\ngrade: A\n"), "{suite}");
    assert!(suite.contains(r#"<property name="simulated" value="SIMULATED"/>"#), "{suite}");
    assert_eq!(suite.matches("\nsimulated: SIMULATED\n").count(), 1);
}
