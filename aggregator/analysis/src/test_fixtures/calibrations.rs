//! Calibrations for tests.
use super::{SEMANTIC, judged, record, rubric};
use crate::calibration::{Calibration, CalibrationInput, CalibrationScope, HumanLabels, calibrate};
use juror_types::outcome::JobResult;

pub fn calibrated(results: Vec<JobResult>, labels: &str, simulated: bool) -> Calibration {
    let (rubric, record) = (rubric(SEMANTIC), record(SEMANTIC, 1));
    let labels = HumanLabels::read("labels.csv", labels.as_bytes(), &rubric).unwrap();
    let scope = CalibrationScope::for_run(&record, simulated).unwrap();
    let input = CalibrationInput {
        record: &record,
        scope: &scope,
        base_url: record.base_url.as_deref(),
        rubric: &rubric,
        labels: &labels,
        file: Some("labels.csv"),
        created_at: "2026-11-21T02:00:03Z",
    };
    calibrate(input, results.into_iter().map(Ok)).unwrap()
}

/// Calibration from two items of the test records.
pub fn calibration_of_two_items() -> Calibration {
    let results = vec![judged("a", [9; 5], &[], &[]), judged("b", [7; 5], &[], &[])];
    calibrated(results, "id,visual_similarity\na,8\nb,7\n", false)
}

/// Twenty items and two raters, one of whom rated the layout 9 throughout.
pub fn twenty(simulated: bool) -> Calibration {
    let mut labels = "id,rater,visual_similarity,token_adherence,variant_accuracy,\
                      feature_completeness,layout_accuracy\n"
        .to_owned();
    let mut results = Vec::new();
    for number in 0..20_u32 {
        let (good, other) = (10 - number % 7, 9 - (number * 3) % 5);
        results.push(judged(&format!("i{number:02}"), [good, other, 10, good, 8], &[], &[]));
        let (one, two) = (good - number % 2, other - number % 3);
        labels.push_str(
            &format!("i{number:02},anna,{one},{two},10,{good}.5,9\n").replace("10.5", "10"),
        );
        labels.push_str(&format!("i{number:02},ben,{good},{two},,,\n"));
    }
    labels.push_str("gone,anna,5,,,,\n");
    calibrated(results, &labels, simulated)
}
