//! Reading of `results.jsonl` line by line in constant memory.

use super::error::{JournalError, parse_record};
use juror_files::data_roots::open_regular;
use juror_types::{SCHEMA, message_check::check_figures, outcome::JobResult};
use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};
use tokio_util::sync::CancellationToken;

/// Maximum length of a line in bytes: the largest parts of a result, a reply and the rationales,
/// are bounded by a judge's output limit.
const MAX_LINE: u64 = 16 << 20;

/// Remedy without a backup of the journal.
const WITHOUT_A_COPY: &str = "remove the line if its job may be judged again";

/// All results of a journal with their offsets in the file, in commit order. A torn last line is
/// not a result and ends the iteration.
#[derive(Debug)]
pub struct Results {
    reader: BufReader<File>,
    path: PathBuf,
    line: u64,
    offset: u64,
    /// End of the last complete line.
    end: u64,
    buffer: Vec<u8>,
    ended: bool,
    stop: CancellationToken,
}

impl Results {
    pub(crate) fn open(path: &Path, stop: CancellationToken) -> Result<Self, JournalError> {
        let file = open_regular(path, u64::MAX);
        let file = file.map_err(|error| JournalError::io("open", path, error))?;
        Ok(Self {
            reader: BufReader::with_capacity(1 << 16, file),
            path: path.to_owned(),
            line: 0,
            offset: 0,
            end: 0,
            buffer: Vec::new(),
            ended: false,
            stop,
        })
    }

    /// Continues with the result at this offset.
    pub(crate) fn skip_to(&mut self, offset: u64) -> Result<(), JournalError> {
        let seek = offset.cast_signed().wrapping_sub(self.offset.cast_signed());
        let sought = self.reader.seek_relative(seek);
        sought.map_err(|error| JournalError::io("read", &self.path, error))?;
        self.offset = offset;
        self.end = offset;
        Ok(())
    }

    /// End of the last result that was read; later results are appended after it.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// The result at this offset.
    pub fn at(&mut self, offset: u64) -> Result<JobResult, JournalError> {
        self.skip_to(offset)?;
        match self.read_line() {
            Ok(Some((_, result))) => Ok(result),
            Ok(None) | Err(JournalError::Unreadable { .. }) => {
                let reason = "it changed while it was read; report the run again";
                Err(JournalError::io("read", &self.path, io::Error::other(reason)))
            }
            Err(error) => Err(error),
        }
    }

    fn read_line(&mut self) -> Result<Option<(u64, JobResult)>, JournalError> {
        if self.stop.is_cancelled() {
            return Err(JournalError::Stopped);
        }
        self.buffer.clear();
        self.line += 1;
        let offset = self.offset;
        let length = (&mut self.reader)
            .take(MAX_LINE)
            .read_until(b'\n', &mut self.buffer)
            .map_err(|error| JournalError::io("read", &self.path, error))?
            as u64;
        self.offset += length;
        if self.buffer.last() != Some(&b'\n') {
            return if length == MAX_LINE {
                Err(self.unreadable("longer than 16 MB"))
            } else {
                Ok(None)
            };
        }
        self.end = self.offset;
        self.buffer.pop();
        let result: JobResult = parse_record(&self.buffer, &self.path, self.line, WITHOUT_A_COPY)?;
        if result.schema != SCHEMA {
            let found = u64::from(result.schema);
            return Err(JournalError::Schema { path: self.path.clone(), line: self.line, found });
        }
        if let Err(error) = check_figures(&result) {
            let remedy = "restore it from a backup, or";
            return Err(self.unreadable(&format!("{error}: {remedy} {WITHOUT_A_COPY}")));
        }
        Ok(Some((offset, result)))
    }

    fn unreadable(&self, reason: &str) -> JournalError {
        JournalError::Unreadable {
            path: self.path.clone(),
            line: self.line,
            reason: reason.to_owned(),
        }
    }
}

impl Iterator for Results {
    type Item = Result<(u64, JobResult), JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let read = self.read_line().transpose();
        self.ended = !matches!(read, Some(Ok(_)));
        read
    }
}

/// End of a file's last complete line.
pub(crate) fn end_of_last_line(file: &mut File) -> io::Result<u64> {
    const STEP: u64 = 1 << 16;
    let mut end = file.seek(SeekFrom::End(0))?;
    let mut block = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(STEP);
        file.seek(SeekFrom::Start(start))?;
        block.clear();
        file.by_ref().take(end - start).read_to_end(&mut block)?;
        if let Some(position) = block.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + position as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}
