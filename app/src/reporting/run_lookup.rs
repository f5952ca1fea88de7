//! Lookup of runs by path, by id in the runs directory, or by the name of a blessed run.

use crate::error::AppError;
use juror_analysis::history::runs_in;
use juror_journal::{
    blessed::{BlessedRun, BlessedRunError, BlessedRuns},
    journal::RunFiles,
};
use juror_types::id::RunId;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// Maximum number of runs that an error lists.
const MAX_LISTED: usize = 5;

/// A run that was found.
pub struct NamedRun {
    /// Files of the run.
    pub files: RunFiles,
    /// Record of its blessing, if it was named by that.
    pub blessed: Option<BlessedRun>,
}

impl From<BlessedRunError> for AppError {
    fn from(error: BlessedRunError) -> Self {
        match error {
            BlessedRunError::File(error) => error.into(),
            BlessedRunError::Name(_) => Self::invalid(error),
            BlessedRunError::Occupied { .. } => Self::conflict(error),
        }
    }
}

/// The files of a run by its id in the runs directory, by a path, or by the name of a blessed run.
pub fn open_run(named: &str, runs_dir: &Path) -> Result<RunFiles, AppError> {
    Ok(find_run(named, runs_dir)?.files)
}

/// Finds a run by path, id or blessed name. A name that means several runs is an error.
pub fn find_run(named: &str, runs_dir: &Path) -> Result<NamedRun, AppError> {
    let blessed = match RunId::parse(named) {
        Ok(_) => BlessedRuns::new(runs_dir).get(named)?,
        Err(_) => None,
    };
    let candidates = candidates(named, runs_dir, blessed.as_ref());
    let mut distinct = BTreeMap::new();
    for (meaning, directory) in &candidates {
        let path = directory.canonicalize().unwrap_or_else(|_| directory.clone());
        distinct.entry(path).or_insert_with(|| meaning.as_str());
    }
    if distinct.len() > 1 {
        let candidates: Vec<&str> = distinct.values().copied().collect();
        return Err(AppError::invalid(format!(
            "{named:?} means {}: give the run's directory instead, as in {}",
            candidates.join(" and "),
            candidate_path(named, runs_dir).display()
        )));
    }
    match (candidates.into_iter().next(), blessed) {
        (Some((_, directory)), None) => open(&directory, None),
        (Some((_, directory)), Some(blessed)) => match holds_run(&directory) {
            true => open(&directory, Some(blessed)),
            false => Err(missing_message(&blessed, runs_dir)),
        },
        (None, _) if Path::new(named).is_dir() => open(Path::new(named), None),
        (None, _) => Err(unknown(named, runs_dir)),
    }
}

/// Directories that a name can mean, each with a description.
fn candidates(
    named: &str,
    runs_dir: &Path,
    blessed: Option<&BlessedRun>,
) -> Vec<(String, PathBuf)> {
    let path = Path::new(named);
    let directory = if path.is_file() { path.parent().unwrap_or(path) } else { path };
    let mut candidates = Vec::new();
    if holds_run(directory) {
        candidates.push((format!("the run directory {named}"), directory.to_owned()));
    }
    if RunId::parse(named).is_ok() {
        let own = runs_dir.join(named);
        if holds_run(&own) {
            candidates.push((format!("the run {}", own.display()), own));
        }
    }
    candidates.extend(blessed.map(|blessed| {
        let directory = runs_dir.join(blessed.run_id.as_str());
        (format!("the blessed run {}", directory.display()), directory)
    }));
    candidates
}

fn candidate_path(named: &str, runs_dir: &Path) -> PathBuf {
    match RunId::parse(named) {
        Ok(_) => runs_dir.join(named),
        Err(_) => PathBuf::from(named),
    }
}

fn holds_run(directory: &Path) -> bool {
    directory.join("run.json").exists()
}

fn open(directory: &Path, blessed: Option<BlessedRun>) -> Result<NamedRun, AppError> {
    Ok(NamedRun { files: RunFiles::open_directory(directory)?, blessed })
}

fn missing_message(blessed: &BlessedRun, runs_dir: &Path) -> AppError {
    let BlessedRun { name, run_id, .. } = blessed;
    AppError::not_found(format!(
        "baseline {name} is run {run_id}, which is no longer in {}: restore it, or bless another \
         run with: juror bless RUN --name {name}",
        runs_dir.display()
    ))
}

fn unknown(named: &str, runs_dir: &Path) -> AppError {
    let blessed = BlessedRuns::new(runs_dir).list().unwrap_or_default();
    let blessed: Vec<_> =
        blessed.iter().map(|run| format!("{} (run {})", run.name, run.run_id)).collect();
    let blessed = match blessed.is_empty() {
        true => "no run is blessed yet (juror bless RUN)".to_owned(),
        false => format!("blessed: {}", blessed.join(", ")),
    };
    let runs = runs_in(runs_dir).unwrap_or_default().into_iter().flatten().take(MAX_LISTED);
    let newest: Vec<_> = runs.map(|files| files.record().run_id.to_string()).collect();
    let newest = match newest.is_empty() {
        true => String::new(),
        false => format!("; newest runs: {}", newest.join(", ")),
    };
    AppError::invalid(format!(
        "there is no run {named:?} in {}, no blessed run of that name, and no run directory of \
         that path; {blessed}{newest}; `juror runs` lists the runs",
        runs_dir.display()
    ))
}

#[cfg(test)]
mod tests;
