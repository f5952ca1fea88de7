//! Reports of a run whose code was rendered and measured.

use crate::{NoAttachments, OutputFormat, TerminalOptions, render_terminal, write_report};
use juror_analysis::test_fixtures::{SEMANTIC, differing, judged, record, report_of};
use juror_types::{
    contradiction::Contradiction,
    evidence::EvidenceOutcome,
    outcome::{JobResult, Outcome},
    run::RunRecord,
};
use serde_json::{Value, json};

/// Results with low scores, and, last by its id, one with a full score despite a large difference.
fn results() -> Vec<JobResult> {
    let mut results: Vec<JobResult> = ["a", "b", "c"].map(|id| judged(id, [5; 5], &[], &[])).into();
    let mut contradicts = judged("z", [10; 5], &[], &[]);
    contradicts.evidence = Some(differing());
    let verdict = contradicts.semantic.as_mut().unwrap();
    verdict.contradictions = vec![Contradiction::SimilarityAgainstEvidence];
    results.push(contradicts);
    results
}

fn written(results: &[JobResult], format: OutputFormat) -> String {
    let (report, directory, _runs) =
        report_of(&record(SEMANTIC, results.len() as u64), results, None, None);
    let mut text = Vec::new();
    write_report(format, &report, directory.files(), &NoAttachments, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn contradiction_is_listed_first_and_marked_in_the_terminal() {
    let results = results();
    let (report, _directory, _runs) = report_of(&record(SEMANTIC, 4), &results, None, None);
    assert_eq!(report.worst[0].screenshot_id, "z");
    let text = render_terminal(&report, TerminalOptions { width: 80, color: false });
    let lines: Vec<&str> = text.lines().collect();
    let table = lines.iter().position(|line| line.starts_with("SCREENSHOTS")).unwrap();
    assert!(lines[table + 2].starts_with(" ! z "), "{text}");
    assert!(lines[table + 3].starts_with("   a "), "{text}");
    assert!(text.contains("! the verdict contradicts the measured evidence"), "{text}");
    assert!(text.contains("1 verdict contradicts the measured evidence: look at these first"));
}

#[test]
fn run_without_a_judge_shows_differing_items_with_their_differences() {
    let mut results: Vec<JobResult> = ["a", "z"].map(|id| judged(id, [5; 5], &[], &[])).into();
    results.iter_mut().for_each(|result| result.semantic = None);
    results[1].evidence = Some(differing());
    let unjudged = RunRecord { judge: None, ..record(SEMANTIC, 2) };
    let (report, directory, _runs) = report_of(&unjudged, &results, None, None);
    let text = render_terminal(&report, TerminalOptions { width: 80, color: false });
    let head = text.lines().find(|line| line.starts_with("SCREENSHOTS")).unwrap();
    assert!(head.contains(" Equal "), "{text}");
    let mut page = Vec::new();
    let files = directory.files();
    write_report(OutputFormat::Html, &report, files, &NoAttachments, &mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    let issue = "button &quot;Save&quot;: another color; background-color: #1D4ED8 for #2563EB";
    assert_eq!(page.matches(issue).count(), 2, "in the table and among the facts: {page}");
    let order = "2 results, worst first: no output, then what failed or does not pass, then what \
                 differs most from its screenshot.";
    assert!(page.contains(order) && !page.contains("lowest scores"), "{page}");
}

#[test]
fn page_shows_evidence_in_full_and_links_to_it_and_to_items_of_repairs() {
    let page = written(&results(), OutputFormat::Html);
    for part in [
        "<a href=\"#full\">1 verdict contradicts the measured evidence</a>",
        "id=\"h0\"><bdi>z</bdi>",
        "background-color of button: #2563EB, should be #1D4ED8",
        "<a href=\"#i0\"><bdi>z</bdi></a>",
        "The verdict contradicts the measured evidence: ",
    ] {
        assert!(page.contains(part), "no {part} in {page}");
    }
    assert!(!page.contains("contradicts itself"));
}

#[test]
fn the_items_of_repairs_are_in_the_report_as_data() {
    let report: Value = serde_json::from_str(&written(&results(), OutputFormat::Json)).unwrap();
    let expected = json!([{"tag": "button", "property": "background-color", "is": "#2563EB",
        "should_be": "#1D4ED8", "count": 1, "items": ["z"]}]);
    assert_eq!(report["evidence"]["repairs"], expected);
    assert_eq!(report["evidence"]["repairs_total"], 1);
}

#[test]
fn reports_say_how_many_repairs_are_not_listed() {
    let results: Vec<JobResult> = (0..60)
        .map(|number| {
            let mut result = judged(&format!("i{number}"), [5; 5], &[], &[]);
            let mut evidence = differing();
            let EvidenceOutcome::Measured(measured) = &mut evidence else { panic!("not measured") };
            measured.regions[0].should_be = Some(format!("#{number:06}"));
            result.evidence = Some(evidence);
            result
        })
        .collect();
    let page = written(&results, OutputFormat::Html);
    assert!(page.contains("Repairs <span class=\"faint\">(60)</span>"), "{page}");
    assert!(page.contains("and 10 more, in report.json"), "{page}");
    let text = written(&results, OutputFormat::Markdown);
    assert!(text.contains("- Repairs (60): ") && text.contains("; … 50 more\n"), "{text}");
    let (report, _directory, _runs) = report_of(&record(SEMANTIC, 60), &results, None, None);
    let text = render_terminal(&report, TerminalOptions { width: 80, color: false });
    assert!(text.contains("Repairs:") && text.contains("… 55 more"), "{text}");
}

#[test]
fn junit_has_measurements_and_render_failures() {
    let mut results = results();
    let broken = &mut results[0];
    *broken = judged("a", [10; 5], &[], &[]);
    broken.evidence = Some(EvidenceOutcome::Failed { error: "throws: x is not defined".into() });
    broken.generation.as_mut().unwrap().renders = Some(false);
    broken.token_extraction = None;
    (broken.pipeline_success, broken.outcome) = (Some(false), Outcome::Scored);
    let suite = written(&results, OutputFormat::Junit);
    for part in [
        "message=\"did not pass: the code does not render: throws: x is not defined\"",
        "\nrender_error: throws: x is not defined\n",
        "\npixels_equal: 0.97\n",
        "\nregion: button &quot;Save&quot;: another color; background-color: #1D4ED8 for #2563EB",
        "<property name=\"evidence_measured\" value=\"1\"/>",
        "<property name=\"evidence_not_rendered\" value=\"1\"/>",
        "<property name=\"evidence_contradictory_verdicts\" value=\"1\"/>",
    ] {
        assert!(suite.contains(part), "no {part} in {suite}");
    }
}
