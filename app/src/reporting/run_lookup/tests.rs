use super::*;
use juror_journal::{
    journal::JournalWriter,
    test_fixtures::{SEMANTIC, record},
};
use juror_types::{SCHEMA, id::Digest, run::RunRecord};
use tempfile::TempDir;

fn runs_with(ids: &[&str]) -> TempDir {
    let runs = tempfile::tempdir().unwrap();
    for id in ids {
        let record = RunRecord { run_id: RunId::new(*id), ..record(SEMANTIC, 1) };
        drop(JournalWriter::create(runs.path(), &record).unwrap());
    }
    runs
}

fn bless(runs: &TempDir, name: &str, run: &str) {
    let blessed = BlessedRun {
        schema: SCHEMA,
        name: name.to_owned(),
        run_id: RunId::new(run),
        blessed_at: "2026-11-23T06:00:00Z".to_owned(),
        program_version: "0.1.0".to_owned(),
        results_digest: Digest::from_content(b""),
    };
    BlessedRuns::new(runs.path()).set(&blessed).unwrap();
}

fn found(named: &str, runs: &TempDir) -> Result<(String, Option<String>), String> {
    let found = find_run(named, runs.path()).map_err(|error| error.to_string())?;
    let id = found.files.record().run_id.to_string();
    Ok((id, found.blessed.map(|blessed| blessed.name)))
}

#[test]
fn run_is_found_by_path_id_and_blessed_name() {
    let runs = runs_with(&["monday", "tuesday"]);
    bless(&runs, "main", "monday");
    let monday = || "monday".to_owned();
    assert_eq!(found("main", &runs), Ok((monday(), Some("main".to_owned()))));
    assert_eq!(found("monday", &runs), Ok((monday(), None)));
    let path = runs.path().join("monday");
    assert_eq!(found(path.to_str().unwrap(), &runs), Ok((monday(), None)));
    let record = path.join("run.json");
    assert_eq!(found(record.to_str().unwrap(), &runs), Ok((monday(), None)));
}

#[test]
fn ambiguous_name_is_refused_unless_both_matches_are_one_run() {
    let runs = runs_with(&["main", "tuesday"]);
    bless(&runs, "main", "main");
    assert_eq!(found("main", &runs), Ok(("main".to_owned(), Some("main".to_owned()))));
    bless(&runs, "main", "tuesday");
    let refused = found("main", &runs).unwrap_err();
    assert!(refused.contains("\"main\" means the run"), "{refused}");
    assert!(refused.contains(" and the blessed run"), "{refused}");
}

#[test]
fn unknown_name_lists_alternatives_and_a_missing_blessed_run_is_named() {
    let runs = runs_with(&["monday", "tuesday"]);
    let nothing = found("main", &runs).unwrap_err();
    assert!(nothing.contains("no run is blessed yet (juror bless RUN)"), "{nothing}");
    bless(&runs, "main", "monday");
    let unknown = found("mian", &runs).unwrap_err();
    for part in ["no run \"mian\"", "blessed: main (run monday)", "newest runs: tuesday, monday"] {
        assert!(unknown.contains(part), "{part}: {unknown}");
    }
    std::fs::remove_dir_all(runs.path().join("monday")).unwrap();
    let gone = found("main", &runs).unwrap_err();
    assert!(gone.contains("baseline main is run monday, which is no longer in"), "{gone}");
}
