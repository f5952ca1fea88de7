//! Complete calibration pages, compared with snapshots.

use crate::{TerminalOptions, render_terminal, render_topics, topics::calibration_file};
use juror_analysis::{
    calibration::{CalibrationScope, stored_calibration::KnownCalibration},
    test_fixtures::{SEMANTIC, calibrations::twenty, judged, record, report_of},
};
use juror_types::run::RunRecord;

fn pages(width: usize) -> [(&'static str, String); 3] {
    let options = TerminalOptions { width, color: false };
    let (record, results) = (record(SEMANTIC, 1), [judged("a", [9; 5], &[], &[])]);
    let mut report = report_of(&record, &results, None, None).0;
    let known = KnownCalibration {
        path: "runs/labelled/calibration.json".into(),
        calibration: twenty(false),
    };
    let mut section = |record: &RunRecord, base_url| {
        let now = CalibrationScope::for_run(record, false).unwrap();
        report.calibration = Some(known.for_run(&now, base_url));
        let text = render_terminal(&report, options);
        let text = &text[text.find("JUDGE AND PEOPLE").unwrap()..];
        text[..text.find("\nCOVERAGE").unwrap()].to_owned()
    };
    let other = RunRecord { max_side: Some(640), ..record.clone() };
    [
        ("calibration", render_topics(&[calibration_file::topic(&twenty(true))], options)),
        ("calibrated", section(&record, Some("http://elsewhere:8000/v1"))),
        ("uncalibrated", section(&other, None)),
    ]
}

#[test]
fn calibration_pages_match_snapshots() {
    for (name, page) in pages(80) {
        insta::assert_snapshot!(name, page);
    }
    use unicode_width::UnicodeWidthStr as _;
    for width in [74, 120] {
        for (name, page) in pages(width) {
            let widest = page.lines().map(|line| line.width()).max();
            assert!(widest <= Some(width), "{name} at {width}:\n{page}");
        }
    }
}
