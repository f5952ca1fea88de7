use super::*;
use crate::{
    report::{NoExhibits, write_output},
    test_results::{SEMANTIC, judged, record, report_of},
};
use juror_common::run::DatasetRecord;

#[test]
fn a_report_is_read_again_as_it_was_written() {
    let results =
        [judged("a", [9, 8, 10, 10, 9], &[], &[]), judged("b", [7, 8, 9, 10, 9], &[], &[])];
    let (report, directory, _runs) = report_of(&record(SEMANTIC, 3), &results, None, None);
    let files = directory.files();
    assert_eq!(PastRun::read(files).unwrap(), None, "there is no report yet");
    let path = files.path_of("report.json");
    write_output(&path, &report, files, &NoExhibits).unwrap();
    let run = PastRun::read(files).unwrap().unwrap();
    assert_eq!((run.figures.planned, run.figures.scored), (3, 2));
    assert_eq!(run.figures.cost_usd, report.cost.total_usd);
    let visual = run.figures.metrics["semantic.avg_visual_similarity"];
    let told = report.metrics.iter().find(|metric| metric.definition.title == "Visual Similarity");
    let told = told.unwrap();
    assert_eq!((Some(visual.value), visual.n), (told.value, told.interval.n));
    assert_eq!((visual.low, visual.high), (told.interval.low, told.interval.high));
    for (text, says) in [("{", "EOF"), ("{\"schema\":2}", "missing field"), ("[]", "invalid")] {
        std::fs::write(&path, text).unwrap();
        let error = PastRun::read(files).unwrap_err().to_string();
        assert!(error.contains("report.json") && error.contains(says), "{error}");
        assert!(error.contains("juror report"), "{error}");
    }
}

#[test]
fn runs_of_other_items_rubrics_or_judges_ask_something_else() {
    let one = record(SEMANTIC, 3);
    let again = RunRecord { budget_usd: None, repeat: 5, planned: 15, ..one.clone() };
    assert!(ask_the_same(&one, &again));
    let dataset = DatasetRecord { limit: Some(2), ..one.dataset.clone() };
    for other in [
        RunRecord { dataset, ..one.clone() },
        RunRecord { judge: None, ..one.clone() },
        RunRecord { max_side: Some(512), ..one.clone() },
    ] {
        assert!(!ask_the_same(&one, &other), "{other:?}");
    }
}

#[test]
fn a_change_of_the_models_fingerprint_is_told_once() {
    let figures = |fingerprint: &str| RunFigures {
        metrics: BTreeMap::new(),
        planned: 1,
        scored: 1,
        cost_usd: Money::ZERO,
        simulated: false,
        fingerprints: fingerprint.split_whitespace().map(str::to_owned).collect(),
    };
    let runs = ["a", "a", "", "b", "b"].map(figures);
    let ids = ["r0", "r1", "r2", "r3", "r4"].map(RunId::new);
    let changes = fingerprint_changes(ids.iter().zip(&runs));
    let sentence = "the model's fingerprint changed from a (run r1) to b (run r3)";
    assert_eq!(changes, [(3, sentence.to_owned())]);
}

#[test]
fn a_fleets_report_names_the_endpoints_that_answered_and_every_fingerprint() {
    let mut results = [judged("a", [9; 5], &[], &[]), judged("b", [9; 5], &[], &[])];
    for (result, name) in results.iter_mut().zip(["one", "two"]) {
        let judge = result.judge.as_mut().unwrap();
        judge.fingerprint = Some(format!("fp_{name}"));
        judge.base_url = Some(format!("https://{name}.example/v1"));
    }
    let fleet = RunRecord { base_url: None, ..record(SEMANTIC, 2) };
    let (report, directory, _runs) = report_of(&fleet, &results, None, None);
    let endpoints = "https://one.example/v1, https://two.example/v1";
    assert_eq!(report.run.base_url.as_deref(), Some(endpoints));
    let files = directory.files();
    write_output(&files.path_of("report.json"), &report, files, &NoExhibits).unwrap();
    let past = PastRun::read(files).unwrap().unwrap();
    assert_eq!(past.figures.fingerprints, ["fp_one", "fp_two"]);
}
