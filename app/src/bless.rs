//! Blessing: names a run as a baseline.

use crate::error::AppError;
use juror_analysis::{
    fold::Fold,
    format::{counted, grouped},
    run_facts::Coverage,
};
use juror_journal::{
    blessed::{BlessedRun, BlessedRuns, results_digest},
    journal::RunFiles,
};
use juror_types::{SCHEMA, id::RunId, outcome::OutcomeCounts, run::RunRecord};
use std::path::Path;

/// A run that has been blessed.
#[derive(Clone, Debug)]
pub struct Blessing {
    /// Record of the blessing.
    pub blessed: BlessedRun,
    /// Previous run of this name.
    pub before: Option<BlessedRun>,
    /// True if any verdict of the run is the simulator's.
    pub simulated: bool,
    /// Description of the jobs without a score; `None` if every job is scored or had nothing to
    /// judge.
    pub lost: Option<String>,
}

/// Gives a run of the runs directory a name.
///
/// # Errors
/// [`AppError::Conflict`] for an active run, whose results still change, and, unless `force` is
/// set, for a run with jobs that are not scored: comparisons would leave their items out. Items
/// without output are results, and count as zeros.
pub fn bless(runs_dir: &Path, run: &RunId, name: &str, force: bool) -> Result<Blessing, AppError> {
    let files = RunFiles::open(runs_dir, run)?;
    if files.is_held() {
        return Err(AppError::conflict(format!(
            "run {run} is active and its results still change: bless it when it has ended"
        )));
    }
    check_name(runs_dir, run, name)?;
    let fold = Fold::from_journal(&files)?;
    let lost = lost_jobs(files.record(), fold.counts());
    if let Some(lost) = lost.as_ref().filter(|_| !force) {
        return Err(AppError::conflict(format!(
            "run {run}: {lost}; their items could not be compared. Judge them with: juror retry \
             {run}, or bless the run as it is with --force"
        )));
    }
    let blessed = BlessedRun {
        schema: SCHEMA,
        name: name.to_owned(),
        run_id: run.clone(),
        blessed_at: jiff::Timestamp::now().to_string(),
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        results_digest: results_digest(&files)?,
    };
    let before = BlessedRuns::new(runs_dir).set(&blessed)?;
    Ok(Blessing { blessed, before, simulated: fold.spent().simulated, lost })
}

/// Removes the name of a blessed run.
pub fn remove(runs_dir: &Path, name: &str) -> Result<BlessedRun, AppError> {
    BlessedRuns::new(runs_dir).remove(name)?.ok_or_else(|| {
        AppError::not_found(format!(
            "no run is blessed as {name:?} in {}: `juror bless --list` lists the names",
            runs_dir.display()
        ))
    })
}

/// Refuses a name that is the id of another run.
fn check_name(runs_dir: &Path, run: &RunId, name: &str) -> Result<(), AppError> {
    if name == run.as_str() || !runs_dir.join(name).join("run.json").exists() {
        return Ok(());
    }
    Err(AppError::conflict(format!(
        "there is a run {name} in {}, so {name:?} would mean two runs: bless run {run} with \
         another --name",
        runs_dir.display()
    )))
}

/// `2 of 60 jobs lost (1 failed, 1 skipped)`; items without output count as results.
fn lost_jobs(record: &RunRecord, counts: OutcomeCounts) -> Option<String> {
    let coverage = Coverage { no_output: 0, ..Coverage::of_run(record, counts) };
    let lost: u64 = coverage.unscored().map(|(count, _)| count).sum();
    let kinds = coverage.unscored().map(|(count, kind)| format!("{} {kind}", grouped(count)));
    let kinds = kinds.collect::<Vec<_>>().join(", ");
    (lost > 0).then(|| {
        format!("{} of {} lost ({kinds})", grouped(lost), counted(coverage.planned, "job"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reporting::run_lookup::find_run;
    use juror_journal::{
        journal::JournalWriter,
        test_fixtures::{SEMANTIC, bare, record},
    };
    use juror_types::outcome::Outcome;
    use tempfile::TempDir;

    fn run_of(runs: &TempDir, outcomes: &[Outcome]) -> RunId {
        let record = record(SEMANTIC, outcomes.len() as u64);
        let mut writer = JournalWriter::create(runs.path(), &record).unwrap();
        let results = outcomes.iter().enumerate();
        let results: Vec<_> =
            results.map(|(number, outcome)| bare(&format!("item-{number}"), *outcome)).collect();
        writer.append(&results).unwrap();
        record.run_id
    }

    #[test]
    fn a_run_with_lost_jobs_is_blessed_only_by_force() {
        let runs = tempfile::tempdir().unwrap();
        let run = run_of(&runs, &[Outcome::Scored, Outcome::NoOutput, Outcome::Failed]);
        let refused = bless(runs.path(), &run, "main", false).unwrap_err().to_string();
        assert!(refused.contains("1 of 3 jobs lost (1 failed)"), "{refused}");
        assert!(refused.contains("juror retry"), "{refused}");
        assert!(BlessedRuns::new(runs.path()).list().unwrap().is_empty());
        let blessing = bless(runs.path(), &run, "main", true).unwrap();
        assert!(blessing.lost.is_some() && blessing.before.is_none());
        assert_eq!(find_run("main", runs.path()).unwrap().files.record().run_id, run);
    }

    #[test]
    fn unpublished_jobs_of_a_cancelled_run_are_lost() {
        let counts = OutcomeCounts { scored: 1, ..OutcomeCounts::default() };
        let cancelled = RunRecord { published: Some(1), ..record(SEMANTIC, 3) };
        let lost = lost_jobs(&cancelled, counts);
        assert_eq!(lost.as_deref(), Some("2 of 3 jobs lost (2 not published)"));
    }

    #[test]
    fn items_without_output_are_results() {
        let runs = tempfile::tempdir().unwrap();
        let run = run_of(&runs, &[Outcome::Scored, Outcome::NoOutput]);
        let blessing = bless(runs.path(), &run, "main", false).unwrap();
        assert_eq!(blessing.lost, None);
        let files = RunFiles::open(runs.path(), &run).unwrap();
        assert_eq!(blessing.blessed.results_digest, results_digest(&files).unwrap());
    }

    #[test]
    fn an_active_run_and_the_name_of_another_run_are_refused() {
        let runs = tempfile::tempdir().unwrap();
        let run = run_of(&runs, &[Outcome::Scored]);
        let other = RunId::new("main");
        let record = RunRecord { run_id: other.clone(), ..record(SEMANTIC, 0) };
        let held = JournalWriter::create(runs.path(), &record).unwrap();
        let refused = bless(runs.path(), &other, "main", true).unwrap_err().to_string();
        assert!(refused.contains("is active"), "{refused}");
        drop(held);
        let refused = bless(runs.path(), &run, "main", true).unwrap_err().to_string();
        assert!(refused.contains("would mean two runs"), "{refused}");
        assert!(bless(runs.path(), &other, "main", false).is_ok());
        assert_eq!(remove(runs.path(), "main").unwrap().run_id, other);
        assert!(remove(runs.path(), "main").unwrap_err().to_string().contains("--list"));
    }
}
