use super::*;
use juror_analysis::evidence_summary::EvidenceSummary;
use juror_analysis::test_fixtures::{ACRUE, SEMANTIC, broken, judged, record, report_of, restyled};
use juror_types::{
    outcome::{ErrorKind, Outcome},
    rubric::is_reserved_key,
    run::SampleRecord,
};

fn written(text: &str, results: Vec<JobResult>) -> String {
    let mut out = Vec::new();
    let record = record(text, results.len() as u64);
    let (report, directory, _runs) = report_of(&record, &results, None, None);
    write(&report, directory.files(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn every_row_has_the_columns_of_the_header() {
    let table = written(
        SEMANTIC,
        vec![
            judged("a", [9, 9, 10, 8, 9], &["Missing, icon"], &[]),
            broken("b", Outcome::Failed, ErrorKind::Api, "the API\nfailed"),
        ],
    );
    assert!(table.contains(
        "a,0,scored,true,2850,0.92,true,button,true,0.88,0.9,9,9,10,8,9,0.005927500,false,false,,,\"Missing, icon\","
    ));
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    assert_eq!(reader.records().map(Result::unwrap).count(), 2);
    let table = written(ACRUE, vec![restyled("fox", [4, 5, 4, 3, 4], &[])]);
    assert!(table.contains(",82,A,4,5,4,3,4,4,5,4,3,4,"), "{table}");
}

#[test]
fn last_columns_are_run_and_item_fields() {
    let mut tagged = judged("a", [9; 5], &[], &[]);
    tagged.item.tags = vec!["form".into(), "dark".into()];
    tagged.item.cluster = Some("login".into());
    tagged.item.metadata = serde_json::from_str(r#"{"run_id":"own","size":{"w":3}}"#).unwrap();
    let table = written(SEMANTIC, vec![tagged, judged("b", [9; 5], &[], &[])]);
    let mut lines = table.lines();
    let head = lines.next().unwrap();
    let columns = ",run_id,model,endpoint,judged_part,cluster,tags,metadata.run_id,metadata.size";
    assert!(head.ends_with(columns), "{head}");
    let end = "gpt-4o,https://api.openai.com/v1,,login,form; dark,own,\"{\"\"w\"\":3}\"";
    assert!(lines.next().unwrap().ends_with(end), "{table}");
    assert!(lines.next().unwrap().ends_with(",gpt-4o,https://api.openai.com/v1,,,,,"), "{table}");
}

#[test]
fn each_row_has_the_judged_part_of_the_dataset() {
    let results =
        vec![judged("a", [9; 5], &[], &[]), broken("b", Outcome::Skipped, ErrorKind::Budget, "-")];
    let mut record = record(SEMANTIC, 2);
    record.dataset.sample = Some(SampleRecord { items: 2, seed: 7, of: 10, until_width: None });
    let (report, directory, _runs) = report_of(&record, &results, None, None);
    let mut out = Vec::new();
    write(&report, directory.files(), &mut out).unwrap();
    let table = String::from_utf8(out).unwrap();
    let part = "a random sample of 2 of 10 items (seed 7); only those judged \
                before the budget ended, which left 1 job unjudged";
    assert_eq!(table.matches(part).count(), 2, "{table}");
}

#[test]
fn rubric_keys_never_collide_with_columns() {
    let mut report = report_of(&record(ACRUE, 0), &[], None, None).0;
    report.evidence = Some(EvidenceSummary::default());
    let columns = columns(&report, &BTreeSet::new());
    let columns = columns.iter().filter(|column| !column.is_part());
    assert_eq!(columns.clone().count(), 46);
    for ResultColumn { name, .. } in columns {
        assert!(is_reserved_key(name), "{name}");
    }
}

#[test]
fn formula_cells_are_escaped_as_text() {
    for cell in ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "＝1+1", "＠SUM(A1)"] {
        let table = written(SEMANTIC, vec![judged("a", [9; 5], &[cell], &[])]);
        assert!(table.contains(&format!("'{cell}")), "{table:?}");
    }
    let evil = written(SEMANTIC, vec![judged("=cmd()", [9; 5], &[], &[])]);
    assert!(evil.contains("\n'=cmd(),"));
}
