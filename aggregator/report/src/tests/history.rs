//! Reports as the history reads them.

use crate::{NoAttachments, write_output};
use juror_analysis::{
    history::PastRun,
    test_fixtures::{SEMANTIC, judged, record, report_of},
};

#[test]
fn report_round_trips() {
    let results =
        [judged("a", [9, 8, 10, 10, 9], &[], &[]), judged("b", [7, 8, 9, 10, 9], &[], &[])];
    let (report, directory, _runs) = report_of(&record(SEMANTIC, 3), &results, None, None);
    let files = directory.files();
    assert_eq!(PastRun::read(files).unwrap(), None, "there is no report yet");
    let path = files.path_of("report.json");
    write_output(&path, &report, files, &NoAttachments).unwrap();
    let run = PastRun::read(files).unwrap().unwrap();
    assert_eq!((run.figures.planned, run.figures.scored), (3, 2));
    assert_eq!(run.figures.cost_usd, report.cost.total_usd);
    let visual = run.figures.metrics["semantic.avg_visual_similarity"];
    let reported =
        report.metrics.iter().find(|metric| metric.definition.title == "Visual Similarity");
    let reported = reported.unwrap();
    assert_eq!((Some(visual.value), visual.n), (reported.value, reported.interval.n));
    assert_eq!((visual.low, visual.high), (reported.interval.low, reported.interval.high));
    for (text, message) in [("{", "EOF"), ("{\"schema\":2}", "missing field"), ("[]", "invalid")] {
        std::fs::write(&path, text).unwrap();
        let error = PastRun::read(files).unwrap_err().to_string();
        assert!(error.contains("report.json") && error.contains(message), "{error}");
        assert!(error.contains("juror report"), "{error}");
    }
}

#[test]
fn report_is_outdated_once_its_journal_changes() {
    let (report, directory, _runs) =
        report_of(&record(SEMANTIC, 2), &[judged("a", [9; 5], &[], &[])], None, None);
    let files = directory.files();
    write_output(&files.path_of("report.json"), &report, files, &NoAttachments).unwrap();
    assert!(PastRun::read_current(files).unwrap().is_some());
    let journal = files.path_of("results.jsonl");
    let results = std::fs::read_to_string(&journal).unwrap();
    for changed in [String::new(), results.repeat(2)] {
        std::fs::write(&journal, changed).unwrap();
        let error = PastRun::read_current(files).unwrap_err().to_string();
        assert!(error.contains("outdated; write it again with: juror report"), "{error}");
    }
}

#[test]
fn fleet_report_lists_endpoints_and_every_fingerprint() {
    let mut results = [judged("a", [9; 5], &[], &[]), judged("b", [9; 5], &[], &[])];
    for (result, name) in results.iter_mut().zip(["one", "two"]) {
        let judge = result.judge.as_mut().unwrap();
        judge.fingerprint = Some(format!("fp_{name}"));
        judge.base_url = Some(format!("https://{name}.example/v1"));
    }
    let fleet = juror_types::run::RunRecord { base_url: None, ..record(SEMANTIC, 2) };
    let (report, directory, _runs) = report_of(&fleet, &results, None, None);
    let endpoints = "https://one.example/v1, https://two.example/v1";
    assert_eq!(report.run.base_url.as_deref(), Some(endpoints));
    let files = directory.files();
    write_output(&files.path_of("report.json"), &report, files, &NoAttachments).unwrap();
    let past = PastRun::read(files).unwrap().unwrap();
    assert_eq!(past.figures.fingerprints, ["fp_one", "fp_two"]);
}
