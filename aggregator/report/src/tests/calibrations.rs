//! Whole calibrations, compared with the files in tests-data.

use crate::{TerminalOptions, render_calibration, render_terminal};
use juror_analysis::{
    calibration::{Binding, known::KnownCalibration},
    test_results::{SEMANTIC, calibrations::twenty, judged, record, report_of},
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
        let now = Binding::for_run(record, false).unwrap();
        report.calibration = Some(known.of_run(&now, base_url));
        let text = render_terminal(&report, options);
        let text = &text[text.find("JUDGE AND PEOPLE").unwrap()..];
        text[..text.find("\nCOVERAGE").unwrap()].to_owned()
    };
    let other = RunRecord { max_side: Some(640), ..record.clone() };
    [
        ("calibration.txt", render_calibration(&twenty(true), options)),
        ("calibrated.txt", section(&record, Some("http://elsewhere:8000/v1"))),
        ("uncalibrated.txt", section(&other, None)),
    ]
}

#[test]
fn pages_are_those_that_were_looked_at() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests-data");
    for (name, page) in pages(80) {
        let expected = std::fs::read_to_string(folder.join(name)).unwrap();
        assert_eq!(page, expected, "{name}");
    }
    use unicode_width::UnicodeWidthStr as _;
    for width in [74, 120] {
        for (name, page) in pages(width) {
            let widest = page.lines().map(|line| line.width()).max();
            assert!(widest <= Some(width), "{name} at {width}:\n{page}");
        }
    }
}

#[test]
#[ignore = "writes the files that the other test compares with"]
fn write_the_pages_anew() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests-data");
    for (name, page) in pages(80) {
        std::fs::write(folder.join(name), page).unwrap();
    }
}
