//! Lines of a text file, bounded in length.

use super::error::DatasetProblem;
use juror_types::byte_order_mark::without_byte_order_mark;
use std::io::{BufRead, Read as _};

/// Maximum length of a line in bytes.
pub(super) const MAX_LINE_BYTES: u64 = 8 * 1024 * 1024;

/// Reads line by line into one buffer. Blank lines are skipped; byte order marks (concatenated
/// files have several) and carriage returns are removed.
pub(super) struct BoundedLines<R> {
    reader: R,
    limit: u64,
    buffer: Vec<u8>,
    number: u64,
    ended: bool,
}

impl<R: BufRead> BoundedLines<R> {
    pub(super) fn new(reader: R, limit: u64) -> Self {
        Self { reader, limit, buffer: Vec::new(), number: 0, ended: false }
    }

    /// Number of the line that was read last, from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The next line that is not blank; after an error of reading, none.
    pub(super) fn next_line(&mut self) -> Option<Result<&str, DatasetProblem>> {
        loop {
            match self.fill() {
                Ok(true) if self.is_blank() => {}
                Ok(true) => break,
                Ok(false) => return None,
                Err(problem) => return Some(Err(problem)),
            }
        }
        let text = str::from_utf8(&self.buffer).map_err(|_| DatasetProblem::NotUtf8);
        Some(text.map(|text| text.trim_start_matches('\u{feff}').trim()))
    }

    fn is_blank(&self) -> bool {
        without_byte_order_mark(&self.buffer).trim_ascii().is_empty()
    }

    /// Reads one line into the buffer; returns false at the end.
    fn fill(&mut self) -> Result<bool, DatasetProblem> {
        if self.ended {
            return Ok(false);
        }
        self.buffer.clear();
        let most = self.limit.saturating_add(1);
        let mut limited = self.reader.by_ref().take(most);
        let length = limited.read_until(b'\n', &mut self.buffer).map_err(|error| {
            self.ended = true;
            DatasetProblem::Unreadable(error.to_string())
        })?;
        if length == 0 {
            self.ended = true;
            return Ok(false);
        }
        self.number += 1;
        if length as u64 == most && self.buffer.last() != Some(&b'\n') {
            self.reader.skip_until(b'\n').map_err(|error| {
                self.ended = true;
                DatasetProblem::Unreadable(error.to_string())
            })?;
            return Err(DatasetProblem::TooLong);
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], limit: u64) -> Vec<(u64, Result<String, DatasetProblem>)> {
        let mut lines = BoundedLines::new(bytes, limit);
        let mut read = Vec::new();
        while let Some(line) = lines.next_line().map(|line| line.map(str::to_owned)) {
            read.push((lines.number(), line));
        }
        read
    }

    #[test]
    fn byte_order_marks_carriage_returns_and_blank_lines_are_ignored() {
        let lines = read("\u{feff}one\r\n\r\n  \n\ntwo".as_bytes(), 100);
        assert_eq!(lines, [(1, Ok("one".into())), (5, Ok("two".into()))]);
    }

    #[test]
    fn oversized_line_is_one_error_and_the_next_line_is_read() {
        let lines = read(b"12345678\nabc\n12345\n1234\n", 4);
        let long = || Err(DatasetProblem::TooLong);
        let expected = [(1, long()), (2, Ok("abc".into())), (3, long()), (4, Ok("1234".into()))];
        assert_eq!(lines, expected);
    }

    #[test]
    fn invalid_utf8_is_an_error_of_its_line() {
        let lines = read(b"one\n\xff\xfe\ntwo\n", 100);
        assert_eq!(lines[1], (2, Err(DatasetProblem::NotUtf8)));
        assert_eq!(lines[2], (3, Ok("two".into())));
    }
}
