//! Blessed runs: named baselines for comparisons, each a small file beside the runs, `<runs
//! directory>/baselines/<name>.json`. A name moves only when another run is blessed.

use crate::{
    journal::{JournalError, RunFiles, is_run_directory},
    replace_file::replace_json,
};
use juror_files::data_roots::{open_regular, read_regular};
use juror_types::{
    SCHEMA,
    id::{BASELINES_FOLDER, Digest, RunId},
};
use serde::{Deserialize, Serialize};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Default name of a blessed run.
pub const DEFAULT_BASELINE: &str = "main";

const MAX_FILE_BYTES: u64 = 64 << 10;

/// A run that is blessed as a baseline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlessedRun {
    /// Version of this record.
    pub schema: u32,
    /// Name of the baseline.
    pub name: String,
    /// Id of the run.
    pub run_id: RunId,
    /// Time at which it was blessed, RFC 3339 in UTC.
    pub blessed_at: String,
    /// Version of the program that blessed it.
    pub program_version: String,
    /// Digest of its results when it was blessed.
    pub results_digest: Digest,
}

/// The blessed runs of a runs directory.
#[derive(Clone, Debug)]
pub struct BlessedRuns {
    folder: PathBuf,
}

/// The error of reading or writing names of baselines.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum BlessedRunError {
    /// An invalid name.
    #[error(
        "{0:?} is not a valid baseline name: use 1 to 100 ASCII letters, digits, '.', '_' or '-', not starting with a dot or a hyphen"
    )]
    Name(String),
    /// The folder of baselines is a run's.
    #[error(
        "{} is the directory of a run, but baselines are stored there: rename the run",
        folder.display()
    )]
    Occupied { folder: PathBuf },
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] JournalError),
}

impl BlessedRuns {
    /// Blessed runs of this runs directory, which need not exist.
    pub fn new(runs_dir: &Path) -> Self {
        Self { folder: runs_dir.join(BASELINES_FOLDER) }
    }

    /// The run of this name, if there is one.
    pub fn get(&self, name: &str) -> Result<Option<BlessedRun>, BlessedRunError> {
        let path = self.path_of(name)?;
        match read_regular(&path, MAX_FILE_BYTES) {
            Ok(bytes) => Ok(Some(parse(&bytes, &path)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(JournalError::io("read", &path, error).into()),
        }
    }

    /// All blessed runs, sorted by name.
    pub fn list(&self) -> Result<Vec<BlessedRun>, BlessedRunError> {
        // A run named `baselines` has its own JSON files.
        if is_run_directory(&self.folder) {
            return Ok(Vec::new());
        }
        let failed = |error| BlessedRunError::from(JournalError::io("list", &self.folder, error));
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut names = Vec::new();
        for entry in entries {
            let file = entry.map_err(failed)?.file_name();
            let name = file.to_str().and_then(|file| file.strip_suffix(".json"));
            names.extend(name.filter(|name| RunId::parse(name).is_ok()).map(str::to_owned));
        }
        names.sort();
        names.iter().filter_map(|name| self.get(name).transpose()).collect()
    }

    /// Gives a run its name; returns the previous run of that name.
    pub fn set(&self, blessed: &BlessedRun) -> Result<Option<BlessedRun>, BlessedRunError> {
        let path = self.path_of(&blessed.name)?;
        if is_run_directory(&self.folder) {
            return Err(BlessedRunError::Occupied { folder: self.folder.clone() });
        }
        let before = self.replaced(&blessed.name)?;
        let failed = |path: &Path, error| JournalError::io("write", path, error);
        fs::create_dir_all(&self.folder).map_err(|error| failed(&self.folder, error))?;
        replace_json(&path, blessed).map_err(|error| failed(&path, error))?;
        Ok(before)
    }

    /// Removes a name; returns its run.
    pub fn remove(&self, name: &str) -> Result<Option<BlessedRun>, BlessedRunError> {
        let before = self.replaced(name)?;
        let path = self.path_of(name)?;
        match fs::remove_file(&path) {
            Ok(()) => Ok(before),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(JournalError::io("remove", &path, error).into()),
        }
    }

    /// The run that loses its name; `None` if its file is damaged, since replacing it is the
    /// remedy.
    fn replaced(&self, name: &str) -> Result<Option<BlessedRun>, BlessedRunError> {
        match self.get(name) {
            Err(BlessedRunError::File(error)) if error.is_damage() => Ok(None),
            read => read,
        }
    }

    fn path_of(&self, name: &str) -> Result<PathBuf, BlessedRunError> {
        RunId::parse(name).map_err(|_| BlessedRunError::Name(name.to_owned()))?;
        Ok(self.folder.join(format!("{name}.json")))
    }
}

/// Digest of a run's journal, including superseded rounds.
pub fn results_digest(files: &RunFiles) -> Result<Digest, JournalError> {
    let path = files.path_of("results.jsonl");
    let digest = open_regular(&path, u64::MAX).and_then(Digest::from_reader);
    digest.map_err(|error| JournalError::io("read", &path, error))
}

fn parse(bytes: &[u8], path: &Path) -> Result<BlessedRun, JournalError> {
    let blessed: BlessedRun =
        serde_json::from_slice(bytes).map_err(|error| JournalError::Unreadable {
            path: path.to_owned(),
            line: error.line() as u64,
            reason: format!("damaged record ({error}): bless the run again"),
        })?;
    match blessed.schema {
        SCHEMA => Ok(blessed),
        found => {
            Err(JournalError::Schema { path: path.to_owned(), line: 1, found: u64::from(found) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blessed(name: &str, run: &str) -> BlessedRun {
        BlessedRun {
            schema: SCHEMA,
            name: name.to_owned(),
            run_id: RunId::new(run),
            blessed_at: "2026-11-23T06:00:00Z".to_owned(),
            program_version: "0.1.0".to_owned(),
            results_digest: Digest::from_content(b""),
        }
    }

    #[test]
    fn name_moves_only_when_another_run_is_blessed_and_returns_the_previous_run() {
        let runs_dir = tempfile::tempdir().unwrap();
        let runs = BlessedRuns::new(runs_dir.path());
        assert_eq!(runs.list().unwrap(), []);
        assert_eq!(runs.remove("main").unwrap(), None);
        let (first, second) = (blessed("main", "monday"), blessed("main", "tuesday"));
        assert_eq!(runs.set(&first).unwrap(), None);
        assert_eq!(runs.set(&blessed("candidate", "monday")).unwrap(), None);
        assert_eq!(runs.get("main").unwrap(), Some(first.clone()));
        assert_eq!(runs.set(&second).unwrap(), Some(first));
        let names: Vec<_> = runs.list().unwrap().into_iter().map(|run| run.name).collect();
        assert_eq!(names, ["candidate", "main"]);
        assert_eq!(runs.remove("main").unwrap(), Some(second));
        assert_eq!(runs.get("main").unwrap(), None);
    }

    #[test]
    fn foreign_links_and_damaged_files_are_errors() {
        let runs_dir = tempfile::tempdir().unwrap();
        let runs = BlessedRuns::new(runs_dir.path());
        for name in ["", "../main", ".main", "a b"] {
            assert!(matches!(runs.get(name), Err(BlessedRunError::Name(_))), "{name}");
        }
        runs.set(&blessed("main", "monday")).unwrap();
        fs::write(runs_dir.path().join("baselines/main.json"), "{").unwrap();
        let damaged = runs.list().unwrap_err().to_string();
        assert!(damaged.contains("main.json, line 1: damaged record"), "{damaged}");
        assert!(damaged.contains("bless the run again"), "{damaged}");
        assert_eq!(runs.set(&blessed("main", "tuesday")).unwrap(), None);
        assert_eq!(runs.list().unwrap().len(), 1);
    }

    #[test]
    fn run_with_the_folder_name_keeps_it() {
        let runs_dir = tempfile::tempdir().unwrap();
        let run = runs_dir.path().join("baselines");
        fs::create_dir(&run).unwrap();
        for file in ["run.json", "results.jsonl", "report.json"] {
            fs::write(run.join(file), "{}").unwrap();
        }
        let runs = BlessedRuns::new(runs_dir.path());
        assert_eq!(runs.list().unwrap(), []);
        let refused = runs.set(&blessed("main", "monday"));
        assert!(matches!(refused, Err(BlessedRunError::Occupied { .. })), "{refused:?}");
    }
}
