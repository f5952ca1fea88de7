//! Judging sessions of a run: start and end of each process that judged it, as recorded.

use crate::error::AppError;
use jiff::Timestamp;
use juror_aggregator::run_journal::RunJournal;
use juror_journal::journal::{JournalWriter, RunFiles};
use juror_types::run::{JudgingTime, RunRecord};
use std::path::Path;

/// State of a run before a session: new, or begun earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunStart {
    /// It is created.
    New,
    /// It is continued where it ended.
    Continued,
}

/// A session that is about to begin or to continue.
pub struct JudgingSession {
    /// Earlier content of the record; `None` for a new run.
    before: Option<JudgingTime>,
    /// The journal's length at its start.
    length: u64,
}

impl JudgingSession {
    /// Record of the run with a further session, and the previous record. A killed session ended
    /// with its last result.
    pub fn begin(record: &RunRecord, runs_dir: &Path, start: RunStart) -> (RunRecord, Self) {
        let files = match start {
            RunStart::New => None,
            RunStart::Continued => RunFiles::open(runs_dir, &record.run_id).ok(),
        };
        let before = files.and_then(|files| files.judging_time());
        let now = Timestamp::now();
        let judging = match &before {
            Some(before) => before.clone().reopened(now),
            None => JudgingTime::since(now),
        };
        (RunRecord { judging: Some(judging), ..record.clone() }, Self { before, length: 0 })
    }

    /// Records the journal's length before the first result of this session.
    pub fn starts_at(&mut self, writer: &JournalWriter) {
        self.length = writer.length();
    }

    /// Records the end of the session. A session without a result is not recorded.
    pub fn end(self, journal: &mut RunJournal) -> Result<(), AppError> {
        let record = journal.record().clone();
        let judging = match self.before {
            Some(before) if journal.length() == self.length => Some(before),
            _ => record.judging.map(|judging| judging.closed(Timestamp::now())),
        };
        journal.update_record_file(&RunRecord { judging, ..record }).map_err(AppError::from)
    }
}
