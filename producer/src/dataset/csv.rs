//! A CSV file with a header row. Columns are a manifest's fields: token columns, `labels` and
//! `sha256` may contain JSON objects, `tags` are separated by `;`, an empty cell is absent.

use super::{
    error::{DatasetError, DatasetProblem, FieldError},
    jsonl::parse_object,
    lines::MAX_LINE_BYTES,
};
use crate::dataset::raw::{RawItem, Records, open_file};
use csv::{ByteRecord, StringRecord, Terminator};
use serde_json::{Map, Value};
use std::{
    collections::HashSet,
    io::{self, Read},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

const READ_BYTES: u64 = 256 * 1024;
/// End of the last row, and a row that marks the end of the file: in an unclosed quote it becomes
/// part of the cell.
const END_OF_FILE: &[u8] = b"\n\0\n";

/// The rows of a CSV file, in order.
pub(super) fn records(path: &Path) -> Result<Records, DatasetError> {
    let left = Arc::new(AtomicU64::new(0));
    // Every row ends with a line feed, so that lines can be counted from the end of a row.
    let source = open_file(path)?.chain(END_OF_FILE);
    let reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .terminator(Terminator::Any(b'\n'))
        .buffer_capacity(READ_BYTES as usize)
        .from_reader(Metered { source, left: Arc::clone(&left) });
    Ok(Box::new(CsvRows { reader, left, row: ByteRecord::new(), columns: None, ended: false }))
}

/// A reader that fails when a row exceeds its limit, so that an unclosed quote does not fill the
/// memory.
struct Metered<R> {
    source: R,
    left: Arc<AtomicU64>,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.left.load(Ordering::Relaxed);
        if left == 0 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let length = self.source.read(buffer)?;
        self.left.store(left.saturating_sub(length as u64), Ordering::Relaxed);
        Ok(length)
    }
}

struct CsvRows<R> {
    reader: csv::Reader<Metered<R>>,
    left: Arc<AtomicU64>,
    row: ByteRecord,
    columns: Option<Vec<String>>,
    ended: bool,
}

impl<R: Read> CsvRows<R> {
    /// The next row that is not blank, and its first line.
    fn next_row(&mut self) -> Option<(u64, Result<StringRecord, DatasetProblem>)> {
        let mut begins;
        loop {
            begins = self.reader.position().line();
            self.left.store(MAX_LINE_BYTES + READ_BYTES, Ordering::Relaxed);
            match self.reader.read_byte_record(&mut self.row) {
                Ok(false) => return None,
                Ok(true) if self.row.as_slice() == b"\0" && self.row.len() == 1 => return None,
                Ok(true) if self.row.as_slice().trim_ascii().is_empty() && self.row.len() == 1 => {}
                Ok(true) => break,
                Err(error) => {
                    // The beginning of the next row is unknown.
                    self.ended = true;
                    return Some((begins, Err(reading_problem(error))));
                }
            }
        }
        let bytes = self.row.as_slice();
        let feeds = bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
        // The parser counts blank lines before a row as part of it, so its line is counted from its
        // end; a row that ends with the file in an unclosed quote has no end of its own.
        let line = self.reader.position().line().saturating_sub(feeds + 1).max(begins);
        if bytes.len() as u64 > MAX_LINE_BYTES {
            return Some((line, Err(DatasetProblem::TooLong)));
        }
        if bytes.ends_with(END_OF_FILE) {
            let problem = "a quote is not closed before the end of the file; close every quote";
            return Some((line, Err(DatasetProblem::NotCsv(problem.to_owned()))));
        }
        let row = StringRecord::from_byte_record(self.row.clone());
        Some((line, row.map_err(|_| DatasetProblem::NotUtf8)))
    }
}

impl<R: Read> Iterator for CsvRows<R> {
    type Item = RawItem;

    fn next(&mut self) -> Option<RawItem> {
        if self.ended {
            return None;
        }
        let (line, row) = self.next_row()?;
        let row = row.map_err(FieldError::from);
        if let Some(columns) = &self.columns {
            return Some(RawItem { line, fields: row.and_then(|row| fields(columns, &row)) });
        }
        match row.and_then(|row| header(&row)) {
            Ok(columns) => {
                self.columns = Some(columns);
                self.next()
            }
            Err(error) => {
                self.ended = true;
                Some(RawItem { line, fields: Err(error) })
            }
        }
    }
}

fn reading_problem(error: csv::Error) -> DatasetProblem {
    match error.into_kind() {
        csv::ErrorKind::Io(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            DatasetProblem::TooLong
        }
        csv::ErrorKind::Io(error) => DatasetProblem::Unreadable(error.to_string()),
        other => DatasetProblem::NotCsv(format!("{other:?}")),
    }
}

fn header(row: &StringRecord) -> Result<Vec<String>, FieldError> {
    let columns: Vec<String> = row.iter().map(|name| name.trim().to_owned()).collect();
    if let [only] = columns.as_slice()
        && only.contains([';', '\t'])
    {
        let problem = "the header row is one column; separate columns by commas";
        return Err(DatasetProblem::NotCsv(problem.to_owned()).into());
    }
    let mut seen = HashSet::new();
    match columns.iter().find(|name| !name.is_empty() && !seen.insert(name.as_str())) {
        Some(twice) => {
            let problem = "two columns have this name; rename one".to_owned();
            Err(FieldError::new(twice, DatasetProblem::NotCsv(problem)))
        }
        None => Ok(columns),
    }
}

fn fields(columns: &[String], row: &StringRecord) -> Result<Map<String, Value>, FieldError> {
    if row.len() != columns.len() {
        let problem = format!(
            "{} cells under {} columns; put cells with commas in quotes, and close every quote",
            row.len(),
            columns.len()
        );
        return Err(DatasetProblem::NotCsv(problem).into());
    }
    // The last cell still has the carriage return of the line's end.
    let cells = columns.iter().zip(row).map(|(column, cell)| {
        let last = column.as_str() == columns.last().map_or("", String::as_str);
        (column, if last { cell.strip_suffix('\r').unwrap_or(cell) } else { cell })
    });
    cells
        .filter(|(column, cell)| !column.is_empty() && !cell.trim().is_empty())
        .map(|(column, cell)| {
            let value = value(column, cell).map_err(|problem| FieldError::new(column, problem))?;
            Ok((column.clone(), value))
        })
        .collect()
}

/// A cell as a manifest's value.
fn value(column: &str, cell: &str) -> Result<Value, DatasetProblem> {
    let text = || Value::String(cell.to_owned());
    Ok(match column {
        "expected_tokens" | "extracted_tokens" | "labels" | "sha256"
            if cell.trim_start().starts_with('{') =>
        {
            Value::Object(parse_object(cell)?)
        }
        "quality_score" | "schema" => cell.trim().parse().map_or_else(|_| text(), Value::Number),
        "tags" => cell.split(';').map(str::trim).filter(|tag| !tag.is_empty()).collect(),
        _ => text(),
    })
}
