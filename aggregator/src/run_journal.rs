//! A run's journal, open for writing. All operations block on disk I/O.

use juror_analysis::fold::Fold;
use juror_journal::journal::{JournalError, JournalWriter, RunFiles, encode};
use juror_types::{outcome::JobResult, run::RunRecord};
use std::borrow::Borrow;
use tokio_util::sync::CancellationToken;

/// A run's locked directory, and the fold of its journal.
#[derive(Debug)]
pub struct RunJournal {
    writer: JournalWriter,
    fold: Fold,
}

impl RunJournal {
    /// Reads the journal of a writer's directory, unless `stop` is cancelled meanwhile.
    pub fn read(writer: JournalWriter, stop: &CancellationToken) -> Result<Self, JournalError> {
        let fold = Fold::from_journal(&writer.files().clone().until(stop.clone()))?;
        Ok(Self { writer, fold })
    }

    /// Commits the new ones among these results with one write and one fsync. Returns for each
    /// whether it was new. On an error none is committed, and this value must be dropped.
    pub fn commit<Item: Borrow<JobResult>>(
        &mut self,
        results: impl IntoIterator<Item = Item>,
    ) -> Result<Vec<bool>, JournalError> {
        let mut lines = Vec::new();
        let mut news = Vec::new();
        for result in results {
            let offset = self.writer.length() + lines.len() as u64;
            let is_new = self.fold.apply(result.borrow(), offset);
            if is_new {
                encode(result.borrow(), &mut lines)?;
            }
            news.push(is_new);
        }
        self.writer.append_lines(&lines)?;
        Ok(news)
    }

    /// Length of the journal in bytes.
    pub fn length(&self) -> u64 {
        self.writer.length()
    }

    /// The run's files, for reading.
    pub fn files(&self) -> &RunFiles {
        self.writer.files()
    }

    /// The run's record.
    pub fn record(&self) -> &RunRecord {
        self.files().record()
    }

    /// The fold of its results.
    pub fn fold(&self) -> &Fold {
        &self.fold
    }

    /// Writes the run's record if it has changed.
    pub fn update_record_file(&mut self, record: &RunRecord) -> Result<(), JournalError> {
        match self.record() == record {
            true => Ok(()),
            false => self.writer.set_record(record.clone()),
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
impl RunJournal {
    /// Makes later writes fail as on a full disk.
    pub(crate) fn simulate_full_disk(&mut self) -> std::io::Result<()> {
        self.writer.simulate_full_disk()
    }
}
