//! Pruning: removes old runs, so that a runs directory does not grow without limit.

use crate::{
    error::AppError,
    local_ledger::{self, local_error, recorded_ledger_file},
    settings::{PruneSettings, Settings},
};
use jiff::{SignedDuration, Timestamp};
use juror_analysis::{
    calibration::stored_calibration,
    history::{are_comparable, runs_in},
};
use juror_journal::{
    blessed::BlessedRuns,
    journal::{JournalWriter, RunFiles},
};
use juror_types::{id::RunId, run::RunRecord};
use std::{
    collections::HashSet,
    fs, io,
    path::{Path, PathBuf},
};

/// Reason to keep a run regardless of its age and size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// The run has a name as a baseline.
    Blessed,
    /// A process works on the run.
    Running,
    /// A fleet may continue the run.
    Unfinished,
    /// The run has the calibration of its judge.
    Calibrated,
    /// The run is among the first of its series.
    First,
    /// The run is the newest of its series.
    Newest,
}

/// A run with the facts that decide whether it is removed.
#[derive(Clone, Debug)]
pub struct PrunableRun {
    /// Id of the run.
    pub run: RunId,
    /// Time of its last result, else of its creation.
    pub last: Timestamp,
    /// Size of its directory, in bytes.
    pub bytes: u64,
    /// Reason to keep it; `None` if age and size decide.
    pub protection: Option<Protection>,
}

/// Plan of a pruning.
#[derive(Clone, Debug, Default)]
pub struct PrunePlan {
    /// Runs to remove, the oldest first.
    pub removed: Vec<PrunableRun>,
    /// Runs to keep, the oldest first.
    pub kept: Vec<PrunableRun>,
}

impl PrunePlan {
    /// The plan for a runs directory. Unreadable runs are kept, and are not in it.
    ///
    /// # Errors
    /// The directory or the names of baselines cannot be read.
    pub fn new(runs_dir: &Path, settings: PruneSettings, now: Timestamp) -> Result<Self, AppError> {
        let runs = prunable(runs_dir, settings.keep_first)?;
        let most = settings.max_mb.map(|megabytes| megabytes.saturating_mul(1_000_000));
        // An age beyond the calendar keeps every run.
        let age = |days: u32| SignedDuration::from_hours(24 * i64::from(days));
        let oldest = settings.keep_days.and_then(|days| now.checked_sub(age(days)).ok());
        let mut plan = Self::default();
        let mut bytes: u64 = runs.iter().map(|run| run.bytes).sum();
        for run in runs {
            let is_old = oldest.is_some_and(|oldest| run.last < oldest);
            let is_too_much = most.is_some_and(|most| bytes > most);
            if run.protection.is_none() && (is_old || is_too_much) {
                bytes = bytes.saturating_sub(run.bytes);
                plan.removed.push(run);
            } else {
                plan.kept.push(run);
            }
        }
        Ok(plan)
    }
}

/// Removes a run: its files, and its records in the ledger that it began with, except the spending
/// of days and months. Returns the path of that ledger; none if the run has calls or batches in
/// progress, and is kept.
///
/// # Errors
/// A process works on the run now, or its files cannot be removed.
pub async fn remove(run: &RunId, settings: &Settings) -> Result<Option<PathBuf>, AppError> {
    let runs_dir = &settings.run.runs_dir;
    let writer = JournalWriter::open(runs_dir, run)?;
    let ledger_file = recorded_ledger_file(writer.files().record(), settings);
    let ledger = local_ledger::open(&ledger_file, settings)?;
    let deleted = ledger.delete_run(run).await.map_err(local_error);
    ledger.close().await;
    if !deleted? {
        return Ok(None);
    }
    let folder = writer.files().directory().to_owned();
    // Renamed first, so that a partly removed run is never listed.
    let renamed = runs_dir.join(format!(".pruned-{run}"));
    fs::rename(&folder, &renamed).and_then(|()| fs::remove_dir_all(&renamed)).map_err(|error| {
        AppError::internal(format!("{} cannot be removed: {error}", folder.display()))
    })?;
    Ok(Some(ledger_file))
}

/// Runs of the same items, rubric and judge, the oldest first.
struct Series<'a> {
    kind: &'a RunRecord,
    runs: Vec<&'a RunId>,
}

/// Every readable run, the oldest first.
fn prunable(runs_dir: &Path, keep_first: usize) -> Result<Vec<PrunableRun>, AppError> {
    let unreadable = |error: io::Error| {
        AppError::internal(format!("{} cannot be read: {error}", runs_dir.display()))
    };
    let blessed = BlessedRuns::new(runs_dir).list()?;
    let blessed: HashSet<RunId> = blessed.into_iter().map(|blessed| blessed.run_id).collect();
    let newest_first = runs_in(runs_dir).map_err(unreadable)?.into_iter().flatten();
    let files: Vec<RunFiles> = newest_first.collect::<Vec<_>>().into_iter().rev().collect();
    let mut series: Vec<Series> = Vec::new();
    for run in &files {
        let record = run.record();
        match series.iter_mut().find(|known| are_comparable(known.kind, record)) {
            Some(known) => known.runs.push(&record.run_id),
            None => series.push(Series { kind: record, runs: vec![&record.run_id] }),
        }
    }
    let mut first = HashSet::new();
    let mut newest = HashSet::new();
    for Series { runs, .. } in &series {
        first.extend(runs.iter().take(keep_first).copied());
        newest.extend(runs.last().copied());
    }
    let protection = |files: &RunFiles| {
        let run = &files.record().run_id;
        let reasons = [
            (blessed.contains(run), Protection::Blessed),
            (files.is_held(), Protection::Running),
            (is_unfinished_in_a_fleet(files), Protection::Unfinished),
            (files.path_of(stored_calibration::FILE_NAME).is_file(), Protection::Calibrated),
            (first.contains(run), Protection::First),
            (newest.contains(run), Protection::Newest),
        ];
        reasons.into_iter().find(|(holds, _)| *holds).map(|(_, reason)| reason)
    };
    let runs = files.iter().map(|files| {
        let created = files.record().created_at.parse().unwrap_or(Timestamp::UNIX_EPOCH);
        Ok(PrunableRun {
            run: files.record().run_id.clone(),
            last: files.last_written().unwrap_or(created),
            bytes: bytes_below(files.directory())?,
            protection: protection(files),
        })
    });
    runs.collect::<io::Result<_>>().map_err(unreadable)
}

/// True if a fleet may still add results: the last report is not written yet.
fn is_unfinished_in_a_fleet(files: &RunFiles) -> bool {
    files.record().fleet.is_some() && !files.path_of("report.json").is_file()
}

fn bytes_below(folder: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() { bytes_below(&entry.path())? } else { metadata.len() };
    }
    Ok(bytes)
}
