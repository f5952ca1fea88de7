//! The writer of a run directory, of which there is at most one.

use super::{
    error::JournalError,
    lock::{DirectoryLock, take},
    occupancy::check_vacant,
    result_reader::end_of_last_line,
    run_files::RunFiles,
};
use crate::replace_file::{replace_json, sync_directory};
use juror_types::{id::RunId, outcome::JobResult, run::RunRecord};
use std::{
    fs::{self, File, OpenOptions},
    io::{self, Seek, SeekFrom, Write},
    path::Path,
};

/// Writer of a run directory, which it locks. The lock ends with the process.
#[derive(Debug)]
pub struct JournalWriter {
    files: RunFiles,
    journal: File,
    length: u64,
    _lock: DirectoryLock,
}

impl JournalWriter {
    /// Creates a run: locks its directory, and writes an empty journal and then `run.json`, durably
    /// and in this order, so that a run with a record can always be read.
    pub fn create(runs_dir: &Path, record: &RunRecord) -> Result<Self, JournalError> {
        let directory = runs_dir.join(record.run_id.as_str());
        if !directory.join("run.json").exists() {
            check_vacant(&directory)?;
        }
        fs::create_dir_all(&directory)
            .map_err(|error| JournalError::io("create", &directory, error))?;
        let lock = take(&directory)?;
        let path = directory.join("run.json");
        let known = path.try_exists().map_err(|error| JournalError::io("check", &path, error))?;
        if known {
            return Err(JournalError::Exists(directory));
        }
        let locked = Self::with_lock(RunFiles::new(directory, record.clone()), lock)?;
        write_record(locked.files.directory(), record)?;
        Ok(locked)
    }

    /// Continues a run: locks its directory and truncates a torn last line of its journal.
    pub fn open(runs_dir: &Path, run: &RunId) -> Result<Self, JournalError> {
        let directory = runs_dir.join(run.as_str());
        // Checked before the lock, so that a mistyped run id creates nothing.
        RunFiles::open(runs_dir, run)?;
        let lock = take(&directory)?;
        Self::with_lock(RunFiles::open(runs_dir, run)?, lock)
    }

    /// [`JournalWriter::open`] with a new record: settings that may change between two rounds, such
    /// as the budget, have changed.
    pub fn reopen(runs_dir: &Path, record: &RunRecord) -> Result<Self, JournalError> {
        let mut directory = Self::open(runs_dir, &record.run_id)?;
        directory.set_record(record.clone())?;
        Ok(directory)
    }

    /// Replaces the run's record.
    pub fn set_record(&mut self, record: RunRecord) -> Result<(), JournalError> {
        let directory = self.files.directory().to_owned();
        write_record(&directory, &record)?;
        self.files = RunFiles::new(directory, record);
        Ok(())
    }

    fn with_lock(files: RunFiles, lock: DirectoryLock) -> Result<Self, JournalError> {
        let path = files.journal_path();
        let opened = || -> io::Result<(File, u64)> {
            let mut journal = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path)?;
            let length = end_of_last_line(&mut journal)?;
            journal.set_len(length)?;
            journal.sync_all()?;
            sync_directory(&path)?;
            Ok((journal, length))
        };
        let (journal, length) = opened().map_err(|error| JournalError::io("open", &path, error))?;
        Ok(Self { files, journal, length, _lock: lock })
    }

    /// The files, for reading.
    pub fn files(&self) -> &RunFiles {
        &self.files
    }

    /// The journal's length: the offset of the next result.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Commits results durably, with one write and one fsync for all of them; on an error none of
    /// them is committed, and the journal is unchanged.
    #[cfg(any(test, feature = "test-fixtures"))]
    pub fn append(&mut self, results: &[JobResult]) -> Result<(), JournalError> {
        let mut lines = Vec::new();
        for result in results {
            encode(result, &mut lines)?;
        }
        self.append_lines(&lines)
    }

    /// Commits lines of [`encode`].
    pub fn append_lines(&mut self, lines: &[u8]) -> Result<(), JournalError> {
        if lines.is_empty() {
            return Ok(());
        }
        let start = self.length;
        let written = self
            .journal
            .seek(SeekFrom::Start(start))
            .and_then(|_| self.journal.write_all(lines))
            .and_then(|()| self.journal.sync_data());
        if let Err(error) = written {
            // If this fails too, the next opening truncates the torn line.
            let _ = self.journal.set_len(start);
            return Err(JournalError::io("write", &self.files.journal_path(), error));
        }
        self.length = start + lines.len() as u64;
        Ok(())
    }
}

/// Appends one result as a line of the journal.
pub fn encode(result: &JobResult, lines: &mut Vec<u8>) -> Result<(), JournalError> {
    serde_json::to_writer(&mut *lines, result).map_err(|error| {
        JournalError::io("encode a result for", Path::new("results.jsonl"), error.into())
    })?;
    lines.push(b'\n');
    Ok(())
}

fn write_record(directory: &Path, record: &RunRecord) -> Result<(), JournalError> {
    let path = directory.join("run.json");
    replace_json(&path, record)
        .and_then(|()| sync_directory(directory))
        .map_err(|error| JournalError::io("write", &path, error))
}

#[cfg(all(target_os = "linux", any(test, feature = "test-fixtures")))]
mod full_disk;
#[cfg(test)]
mod tests;
