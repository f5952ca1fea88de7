//! A run's journal, open to be written. Everything here waits for the disk.

use juror_analysis::fold::{Applied, Fold};
use juror_journal::journal::{JournalError, RunDirectory, RunFiles, encode};
use juror_types::{outcome::JobResult, run::RunRecord};
use std::borrow::Borrow;

/// A run's locked directory, and the fold of its journal.
#[derive(Debug)]
pub struct RunJournal {
    directory: RunDirectory,
    fold: Fold,
}

impl RunJournal {
    /// Reads the journal of a directory.
    pub fn read(directory: RunDirectory) -> Result<Self, JournalError> {
        let fold = Fold::of_journal(directory.files())?;
        Ok(Self { directory, fold })
    }

    /// A directory whose journal folds to this.
    pub(crate) fn new(directory: RunDirectory, fold: Fold) -> Self {
        Self { directory, fold }
    }

    /// Commits what is new among these results: one write and one fsync. Returns for each of them
    /// whether it was new. On an error nothing of them is committed, and this value is of no more
    /// use.
    pub fn commit<Item: Borrow<JobResult>>(
        &mut self,
        results: impl IntoIterator<Item = Item>,
    ) -> Result<Vec<bool>, JournalError> {
        let mut lines = Vec::new();
        let mut news = Vec::new();
        for result in results {
            let offset = self.directory.length() + lines.len() as u64;
            let is_new = self.fold.apply(result.borrow(), offset) != Applied::Duplicate;
            if is_new {
                encode(result.borrow(), &mut lines)?;
            }
            news.push(is_new);
        }
        self.directory.append_lines(&lines)?;
        Ok(news)
    }

    /// The directory.
    pub fn directory(&self) -> &RunDirectory {
        &self.directory
    }

    /// The run's files, to be read.
    pub fn files(&self) -> &RunFiles {
        self.directory.files()
    }

    /// The run's record.
    pub fn record(&self) -> &RunRecord {
        self.files().record()
    }

    /// The fold of its results.
    pub fn fold(&self) -> &Fold {
        &self.fold
    }

    /// Writes the run's record anew unless it says this already.
    pub fn keep_record(&mut self, record: &RunRecord) -> Result<(), JournalError> {
        match self.record() == record {
            true => Ok(()),
            false => self.directory.set_record(record.clone()),
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
impl RunJournal {
    /// Makes every further write fail as on a full disk.
    pub(crate) fn fill_the_disk(&mut self) -> std::io::Result<()> {
        self.directory.fill_the_disk()
    }
}
