//! Earlier runs of a runs directory.

use super::{PastRun, are_comparable, have_equal_stages, is_before, is_of_one_kind};
use juror_journal::journal::{JournalError, RunFiles};
use juror_types::{id::RunId, run::RunRecord};
use std::{fs, io, path::Path};

/// Maximum number of earlier runs of a series.
const MAX_RUNS: usize = 1_000;

/// The runs of a directory, newest first; unreadable ones and copies of runs are errors. Empty for a
/// missing directory.
pub fn runs_in(runs_dir: &Path) -> io::Result<Vec<Result<RunFiles, JournalError>>> {
    let entries = match fs::read_dir(runs_dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut runs = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        let Ok(run) = RunId::parse(&name.to_string_lossy()) else { continue };
        if runs_dir.join(run.as_str()).join("run.json").is_file() {
            runs.push(RunFiles::open(runs_dir, &run).and_then(original));
        }
    }
    let created = |run: &Result<RunFiles, JournalError>| {
        let record = run.as_ref().ok()?.record();
        Some((record.created_at.clone(), record.run_id.to_string()))
    };
    runs.sort_by_cached_key(|run| std::cmp::Reverse(created(run)));
    Ok(runs)
}

/// At most `most` comparable runs of this directory that were created before this one and have a
/// report, newest first. Unreadable ones are logged and left out.
pub fn earlier_runs(files: &RunFiles, most: usize) -> Vec<PastRun> {
    runs_before(files, most, are_comparable)
}

/// Earlier runs that are comparable with this one night by night, newest first: see
/// [`is_of_one_kind`].
pub fn runs_of_one_kind(files: &RunFiles) -> Vec<PastRun> {
    runs_before(files, MAX_RUNS, is_of_one_kind)
}

/// Files of at most `most` runs of this directory that were created before this one and have a
/// report, newest first. Outcomes of their items are comparable.
pub fn runs_of_equal_stages(files: &RunFiles, most: usize) -> Vec<RunFiles> {
    let earlier = files_before(files, have_equal_stages).into_iter();
    earlier.filter(|run| run.path_of("report.json").is_file()).take(most).collect()
}

fn runs_before(
    files: &RunFiles,
    most: usize,
    belongs: fn(&RunRecord, &RunRecord) -> bool,
) -> Vec<PastRun> {
    let read = |run: RunFiles| {
        PastRun::read_current(&run)
            .inspect_err(|error| tracing::warn!("an earlier run is left out: {error}"))
            .ok()
            .flatten()
    };
    files_before(files, belongs).into_iter().filter_map(read).take(most).collect()
}

/// The files of a run, unless they are a copy in a directory of another name.
fn original(files: RunFiles) -> Result<RunFiles, JournalError> {
    if files.has_own_directory() {
        return Ok(files);
    }
    let run = &files.record().run_id;
    let reason = format!("it is that of another run, {run}: move this copy to another folder");
    Err(JournalError::Unreadable { path: files.path_of("run.json"), line: 1, reason })
}

/// Matching runs created before this one, newest first.
fn files_before(files: &RunFiles, belongs: fn(&RunRecord, &RunRecord) -> bool) -> Vec<RunFiles> {
    let Some(runs_dir) = files.directory().parent() else { return Vec::new() };
    let runs = runs_in(runs_dir).unwrap_or_else(|error| {
        tracing::warn!(%error, "earlier runs in {} cannot be read", runs_dir.display());
        Vec::new()
    });
    let own = files.record();
    let is_earlier =
        |other: &RunFiles| is_before(other.record(), own) && belongs(own, other.record());
    let readable = runs.into_iter().filter_map(|run| {
        run.inspect_err(|error| tracing::warn!("an earlier run is left out: {error}")).ok()
    });
    readable.filter(is_earlier).collect()
}
