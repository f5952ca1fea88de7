use super::*;
use crate::test_fixtures::{SEMANTIC, bare, record, run_id};
use juror_types::outcome::Outcome;

fn ids(writer: &JournalWriter) -> Vec<String> {
    let results = writer.files().results().unwrap();
    results.map(|read| read.unwrap().1.screenshot_id).collect()
}

fn scored(id: &str) -> JobResult {
    bare(id, Outcome::Scored)
}

#[test]
fn committed_records_are_present_after_resume() {
    let runs = tempfile::tempdir().unwrap();
    let record = record(SEMANTIC, 3);
    let mut writer = JournalWriter::create(runs.path(), &record).unwrap();
    writer.append(&[scored("a"), scored("b")]).unwrap();
    drop(writer);
    let mut writer = JournalWriter::open(runs.path(), &run_id()).unwrap();
    assert_eq!(writer.files().record(), &record);
    let offset = writer.length();
    writer.append(&[scored("c")]).unwrap();
    assert_eq!(ids(&writer), ["a", "b", "c"]);
    let mut results = writer.files().results().unwrap();
    assert_eq!(results.at(offset).unwrap().screenshot_id, "c");
    assert_eq!(results.at(0).unwrap().screenshot_id, "a");
}

#[test]
fn torn_last_line_is_truncated_at_any_offset() {
    let whole = {
        let mut lines = Vec::new();
        encode(&scored("torn"), &mut lines).unwrap();
        lines
    };
    for length in [1, 20, whole.len() - 1] {
        let runs = tempfile::tempdir().unwrap();
        let mut writer = JournalWriter::create(runs.path(), &record(SEMANTIC, 2)).unwrap();
        writer.append(&[scored("a")]).unwrap();
        let kept = writer.length();
        let path = writer.files().journal_path();
        drop(writer);
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(&whole[..length]).unwrap();
        let reader = RunFiles::open(runs.path(), &run_id()).unwrap();
        assert_eq!(reader.results().unwrap().count(), 1, "a reader passes over it");
        let mut writer = JournalWriter::open(runs.path(), &run_id()).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().len(), kept);
        writer.append(&[scored("b")]).unwrap();
        assert_eq!(ids(&writer), ["a", "b"]);
    }
}

#[test]
fn corrupt_complete_line_is_an_error_and_nothing_is_truncated() {
    let runs = tempfile::tempdir().unwrap();
    let mut writer = JournalWriter::create(runs.path(), &record(SEMANTIC, 2)).unwrap();
    writer.append(&[scored("a")]).unwrap();
    writer.append_lines(b"{\"schema\":1,\"run_id\":\n").unwrap();
    let error = writer.files().results().unwrap().nth(1).unwrap().unwrap_err().to_string();
    assert!(error.contains("results.jsonl, line 2: damaged record"), "{error}");
    assert_eq!(writer.files().results().unwrap().count(), 2, "reading ends at the error");
}

#[test]
fn result_that_no_worker_computed_is_an_error() {
    let runs = tempfile::tempdir().unwrap();
    let mut writer = JournalWriter::create(runs.path(), &record(SEMANTIC, 2)).unwrap();
    let negative = JobResult { cost_usd: "-1".parse().unwrap(), ..scored("b") };
    writer.append(&[scored("a"), negative]).unwrap();
    let mut results = writer.files().results().unwrap();
    assert!(results.next().unwrap().is_ok());
    let error = results.next().unwrap().unwrap_err().to_string();
    assert!(error.contains("results.jsonl, line 2: its cost is negative: restore it"), "{error}");
}

#[test]
fn other_version_is_refused_with_both_versions_named() {
    let runs = tempfile::tempdir().unwrap();
    let mut writer = JournalWriter::create(runs.path(), &record(SEMANTIC, 1)).unwrap();
    let mut future = scored("a");
    future.schema = 9;
    writer.append(&[future]).unwrap();
    writer.append_lines(b"{\"schema\":7,\"unheard\":true}\n").unwrap();
    let error = writer.files().results().unwrap().next().unwrap().unwrap_err().to_string();
    assert!(error.contains("schema 9, but this program reads schema 1"), "{error}");

    let path = writer.files().path_of("run.json");
    drop(writer);
    fs::write(&path, b"{\"schema\":2}").unwrap();
    let error = JournalWriter::open(runs.path(), &run_id()).unwrap_err().to_string();
    assert!(error.contains("run.json, line 1: schema 2"), "{error}");
}

#[test]
fn second_writer_is_refused_with_location_and_remedy() {
    let runs = tempfile::tempdir().unwrap();
    let writer = JournalWriter::create(runs.path(), &record(SEMANTIC, 1)).unwrap();
    let error = JournalWriter::open(runs.path(), &run_id()).unwrap_err();
    assert!(matches!(&error, JournalError::InUse { .. }));
    assert!(error.to_string().contains("nightly-2026-11-21"), "{error}");
    drop(writer);
    JournalWriter::open(runs.path(), &run_id()).unwrap();
}

#[test]
fn run_is_neither_overwritten_nor_created_implicitly() {
    let runs = tempfile::tempdir().unwrap();
    let missing = JournalWriter::open(runs.path(), &run_id()).unwrap_err();
    assert!(matches!(missing, JournalError::Missing { .. }));
    assert_eq!(fs::read_dir(runs.path()).unwrap().count(), 0);
    drop(JournalWriter::create(runs.path(), &record(SEMANTIC, 1)).unwrap());
    let exists = JournalWriter::create(runs.path(), &record(SEMANTIC, 1)).unwrap_err();
    assert!(matches!(exists, JournalError::Exists { .. }));
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_is_reported_and_committed_records_are_kept() {
    let runs = tempfile::tempdir().unwrap();
    let mut writer = JournalWriter::create(runs.path(), &record(SEMANTIC, 1)).unwrap();
    writer.append(&[scored("a")]).unwrap();
    let length = writer.length();
    writer.simulate_full_disk().unwrap();
    let error = writer.append(&[scored("b")]).unwrap_err();
    assert!(matches!(&error, JournalError::Full { .. }), "{error}");
    assert!(error.to_string().contains(&format!("--resume {}", run_id())), "{error}");
    assert_eq!(writer.length(), length);
    assert_eq!(ids(&writer), ["a"]);
}
