use super::*;
use crate::test_fixtures::calibrations::{calibrated, calibration_of_two_items, twenty};
use crate::test_fixtures::{SEMANTIC, broken, judged, record};
use juror_types::outcome::{ErrorKind, Outcome};
use stored_calibration::{CalibrationStatus, FILE_NAME, KnownCalibration};

#[test]
fn repeats_and_raters_are_averaged_and_unmatched_labels_are_listed() {
    let results = vec![
        judged("a", [9; 5], &[], &[]),
        judged("a", [7; 5], &[], &[]),
        broken("a", Outcome::Failed, ErrorKind::Api, "-"),
        judged("b", [4; 5], &[], &[]),
        judged("c", [4; 5], &[], &[]),
        broken("d", Outcome::Failed, ErrorKind::Api, "-"),
    ];
    let labels = "id,rater,visual_similarity,layout_accuracy,semantic_correctness\n\
                  a,anna,6,,\na,ben,7,,0.9\nb,anna,5,,\nd,anna,5,,\nz,anna,5,,\n";
    let found = calibrated(results, labels, false);
    let coverage = &found.coverage;
    assert_eq!((coverage.scored_items, coverage.labelled_items, coverage.paired_items), (3, 4, 2));
    assert_eq!(
        (&coverage.unknown[..], &coverage.not_scored[..]),
        (&["z".into()][..], &["d".into()][..])
    );
    assert_eq!(found.warnings.len(), 3, "unknown, not scored, not enough");
    assert_eq!((found.labels.raters, found.labels.ratings), (2, 5));
    let visual = &found.criteria[0];
    assert_eq!((visual.agreement.n, visual.agreement.bias.value), (2, Some(0.25)));
    assert_eq!(visual.agreement.judge_mean, Some(6.0));
    assert_eq!((visual.people.raters, visual.people.items), (2, 1));
    assert_eq!(visual.agreement.confusion.counts[7][8], 1, "6.5 is the upper of two steps");
    let layout = &found.criteria[4];
    assert_eq!((layout.agreement.n, layout.agreement.bias.value), (0, None));
    assert_eq!(found.score.agreement.bias.value, Some(-0.1));
}

#[test]
fn replies_of_another_model_calibrate_nothing() {
    let mut other = judged("b", [4; 5], &[], &[]);
    other.judge.as_mut().unwrap().answered_by = Some("gpt-4o-mini".to_owned());
    let labels = "id,rater,visual_similarity\na,anna,6\nb,anna,5\n";
    let coverage = calibrated(vec![judged("a", [9; 5], &[], &[]), other], labels, false).coverage;
    assert_eq!((coverage.scored_items, coverage.paired_items), (1, 1));
    assert_eq!(coverage.not_scored, ["b"]);
}

#[test]
fn calibration_file_round_trips_and_an_edited_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE_NAME);
    stored_calibration::write(&path, &calibration_of_two_items()).unwrap();
    let read = KnownCalibration::read(&path).unwrap();
    assert_eq!(read.calibration, calibration_of_two_items());
    let text = std::fs::read_to_string(&path).unwrap();
    for (from, to, word) in [
        ("gpt-4o", "gpt-5", "its digest does not match"),
        ("\"schema\": 1", "\"schema\": 2", "has schema 2"),
        ("\"coverage\"", "\"cover\"", "missing field"),
        ("{", "", "is not a calibration"),
    ] {
        std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let output = KnownCalibration::read(&path).unwrap_err().to_string();
        assert!(output.contains(word), "{output}");
    }
    let other =
        stored_calibration::write(&folder.path().join("c.csv"), &calibration_of_two_items())
            .unwrap_err();
    assert!(other.to_string().ends_with("c.csv: a calibration is written as .json"), "{other}");
}

#[test]
fn newest_calibration_of_the_same_judge_is_used_and_never_a_simulated_one() {
    let folder = tempfile::tempdir().unwrap();
    let write = |run: &str, calibration: &Calibration| {
        std::fs::create_dir(folder.path().join(run)).unwrap();
        stored_calibration::write(&folder.path().join(run).join(FILE_NAME), calibration).unwrap();
    };
    let now = CalibrationScope::for_run(&record(SEMANTIC, 1), false).unwrap();
    let newest = || KnownCalibration::newest_in(folder.path(), &now);
    let mut simulated = calibration_of_two_items();
    simulated.scope = CalibrationScope::for_run(&record(SEMANTIC, 1), true).unwrap();
    simulated.created_at = "2026-11-29T02:00:03Z".into();
    write("simulated", &simulated);
    assert_eq!(newest().0, None);
    let mut other = calibration_of_two_items();
    let hot = RunRecord { max_side: Some(640), ..record(SEMANTIC, 1) };
    other.scope = CalibrationScope::for_run(&hot, false).unwrap();
    other.created_at = "2026-11-28T02:00:03Z".into();
    write("other", &other);
    let found = newest().0.unwrap().for_run(&now, None);
    assert_eq!(found.status, CalibrationStatus::Uncalibrated);
    assert_eq!(found.changed, ["image.max_side: 640 at calibration, not set now"]);
    assert!(found.figures.is_empty());
    write("old", &calibration_of_two_items());
    write(
        "new",
        &Calibration { created_at: "2026-11-21T02:00:03.5Z".into(), ..calibration_of_two_items() },
    );
    std::fs::create_dir(folder.path().join("torn")).unwrap();
    std::fs::write(folder.path().join("torn").join(FILE_NAME), "{").unwrap();
    let (found, unreadable) = newest();
    let found = found.unwrap();
    assert!(found.path.ends_with("new/calibration.json") && unreadable.len() == 1);
    let found = found.for_run(&now, Some("http://elsewhere/v1"));
    assert_eq!((found.status, found.n), (CalibrationStatus::NotEnough, 2));
    let shortfall = found.shortfall.unwrap();
    assert!(
        shortfall.contains("2 items have a score and a label, and 20 are needed"),
        "{shortfall}"
    );
    assert_eq!(found.figures.len(), 1, "people rated one criterion alone");
    assert!(found.notes[0].contains("to http://elsewhere/v1:"), "{:?}", found.notes);
}

#[test]
fn a_judge_is_calibrated_by_twenty_items_and_moderate_agreement_alone() {
    assert_eq!(twenty(false).shortfall(), None);
    let shortfall_of_items = |count: u32, people: fn(u32) -> u32| {
        let mut labels = "id,rater,visual_similarity\n".to_owned();
        let mut results = Vec::new();
        for number in 0..count {
            results.push(judged(&format!("i{number:02}"), [number % 10; 5], &[], &[]));
            labels.push_str(&format!("i{number:02},anna,{}\n", people(number % 10)));
        }
        calibrated(results, &labels, false).shortfall()
    };
    let shortfall = shortfall_of_items(19, |score| score).unwrap();
    assert!(shortfall.contains("19 items have a score and a label"), "{shortfall}");
    assert_eq!(shortfall_of_items(20, |score| score.max(2)), None);
    let against = shortfall_of_items(40, |score| 9 - score).unwrap();
    assert!(against.contains("kappa is -"), "{against}");
    assert!(against.contains("agree less than by chance"), "{against}");
    let chance = shortfall_of_items(40, |score| score * 7 % 10).unwrap();
    assert!(chance.contains("does not exclude"), "{chance}");
    let generous = shortfall_of_items(200, |score| score / 5).unwrap();
    assert!(generous.contains("better than chance but below 0.40"), "{generous}");
    assert_eq!(shortfall_of_items(27, |score| score), None, "full agreement has no spread");
    let alike = shortfall_of_items(30, |_| 9).unwrap();
    assert!(alike.contains("kappa"), "{alike}");
}
