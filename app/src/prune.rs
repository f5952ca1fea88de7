//! Pruning: taking old runs away, so that a runs directory does not grow for ever.

use crate::{error::AppError, settings::PruneSettings};
use jiff::{SignedDuration, Timestamp};
use juror_analysis::history::{ask_the_same, runs_in};
use juror_journal::{
    blessed::BlessedRuns,
    journal::{RunDirectory, RunFiles},
};
use juror_ledger::sqlite::SqliteLedger;
use juror_types::{id::RunId, run::RunRecord};
use std::{collections::HashSet, fs, io, path::Path};

/// Reason for which a run stays, whatever its age and size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// It has a name as a baseline.
    Blessed,
    /// A process works on it.
    Running,
    /// A fleet may go on with it.
    Unfinished,
    /// It is among the first of its series.
    First,
    /// It is the newest of its series.
    Newest,
}

/// A run that could be taken away.
#[derive(Clone, Debug)]
pub struct PrunableRun {
    /// The run.
    pub run: RunId,
    /// Time of its last result, or of its beginning.
    pub last: Timestamp,
    /// Bytes of its directory.
    pub bytes: u64,
    /// Reason why it is kept; none if age and size decide.
    pub protection: Option<Protection>,
}

/// Runs of a directory, sorted by what becomes of them.
#[derive(Clone, Debug, Default)]
pub struct PrunePlan {
    /// Runs to be taken away, the oldest first.
    pub removed: Vec<PrunableRun>,
    /// Runs that stay, the oldest first.
    pub kept: Vec<PrunableRun>,
}

impl PrunePlan {
    /// The plan for a runs directory. Runs that cannot be read stay, and are not in it.
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

/// Takes a run away: its files, and what the ledger keeps for it beside the money of days and
/// months. Answers whether it did: one with calls or batches under way stays.
///
/// # Errors
/// A process has taken the run up meanwhile, or its files cannot be removed.
pub async fn remove(runs_dir: &Path, run: &RunId, ledger: &SqliteLedger) -> Result<bool, AppError> {
    let directory = RunDirectory::open(runs_dir, run)?;
    if !ledger.forget_run(run).await.map_err(AppError::internal)? {
        return Ok(false);
    }
    let place = directory.files().directory().to_owned();
    // Under another name first, so that no half of a run is ever taken for one.
    let gone = runs_dir.join(format!(".pruned-{run}"));
    fs::rename(&place, &gone).and_then(|()| fs::remove_dir_all(&gone)).map_err(|error| {
        AppError::internal(format!("{} cannot be removed: {error}", place.display()))
    })?;
    Ok(true)
}

/// Every run that can be read, the oldest first.
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
        match series.iter_mut().find(|known| ask_the_same(known.kind, record)) {
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

/// Runs that ask the same, the oldest first.
struct Series<'a> {
    kind: &'a RunRecord,
    runs: Vec<&'a RunId>,
}

/// True if a fleet may still add results: one without a last report is not at its end.
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
