//! Checks which directories contain a run, and which ones a new run may use.

use super::{JournalError, RunFiles, lock::LOCK_FILE};
use juror_files::kept_inputs::INPUTS_FOLDER;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// True if a directory contains a run, even a damaged one.
pub fn is_run_directory(directory: &Path) -> bool {
    let holds = |name: &str| directory.join(name).exists();
    match RunFiles::open_directory(directory) {
        Ok(_) => true,
        Err(JournalError::Missing { .. }) => holds("results.jsonl") && holds(LOCK_FILE),
        // Another program's `run.json`, unless there is a journal too.
        Err(_) => holds("results.jsonl"),
    }
}

/// The run directory that contains a path, whether or not the path exists.
pub fn run_directory_above(path: &Path) -> Option<PathBuf> {
    path.ancestors().skip(1).find(|folder| is_run_directory(folder)).map(Path::to_owned)
}

/// Refuses a directory that a new run must not use: a file, or a folder with anything but the files
/// of a run whose creation was interrupted or that has lost its `run.json`.
///
/// # Errors
/// [`JournalError::Occupied`] for such a directory, [`JournalError::Io`] if it cannot be listed.
pub fn check_vacant(directory: &Path) -> Result<(), JournalError> {
    let occupied = || JournalError::Occupied(directory.to_owned());
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        // A dangling link counts as occupied too.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return if directory.is_symlink() { Err(occupied()) } else { Ok(()) };
        }
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Err(occupied()),
        Err(error) => return Err(JournalError::io("list", directory, error)),
    };
    let (mut is_empty, mut has_lock) = (true, false);
    for entry in entries {
        let name = entry.map_err(|error| JournalError::io("list", directory, error))?.file_name();
        let name = name.to_string_lossy();
        if !is_file_of_a_run(&name) {
            return Err(occupied());
        }
        is_empty = false;
        has_lock |= name == LOCK_FILE;
    }
    // Juror locks a directory before it writes anything else into it.
    if is_empty || has_lock { Ok(()) } else { Err(occupied()) }
}

fn is_file_of_a_run(name: &str) -> bool {
    [LOCK_FILE, "run.json", "results.jsonl", "calibration.json", INPUTS_FOLDER].contains(&name)
        || name.starts_with("report.")
        || (name.starts_with('.') && name.ends_with(".part"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            fs::write(folder.path().join(name), "").unwrap();
        }
        folder
    }

    #[test]
    fn directory_with_foreign_files_is_not_vacant() {
        for vacant in [
            &[][..],
            &[".lock"],
            &[".lock", "results.jsonl"],
            &[".lock", "results.jsonl", "report.json", "inputs", ".run.json.7.part"],
        ] {
            assert!(check_vacant(folder(vacant).path()).is_ok(), "{vacant:?}");
        }
        for occupied in
            [&["manifest.jsonl"][..], &["results.jsonl"], &[".lock", "manifest.jsonl"], &[".git"]]
        {
            let refused = check_vacant(folder(occupied).path());
            assert!(matches!(refused, Err(JournalError::Occupied { .. })), "{occupied:?}");
        }
    }

    #[test]
    fn a_file_is_not_vacant_and_a_missing_directory_is() {
        let folder = folder(&["juror.db"]);
        let refused = check_vacant(&folder.path().join("juror.db"));
        assert!(matches!(refused, Err(JournalError::Occupied { .. })), "{refused:?}");
        assert!(check_vacant(&folder.path().join("none")).is_ok());
    }

    #[test]
    fn run_directory_is_also_recognized_by_its_journal() {
        assert!(!is_run_directory(folder(&["run.json"]).path()), "another program's file");
        assert!(!is_run_directory(folder(&["results.jsonl"]).path()), "an export");
        assert!(is_run_directory(folder(&["run.json", "results.jsonl"]).path()), "damaged");
        assert!(is_run_directory(folder(&[".lock", "results.jsonl"]).path()), "no record");
        let run = folder(&["run.json", "results.jsonl"]);
        let nested = run.path().join("inputs/x/a.html");
        assert_eq!(run_directory_above(&nested).as_deref(), Some(run.path()));
    }
}
