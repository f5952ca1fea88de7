//! A CSV file with a header row. Columns are a manifest's fields: token columns, `labels` and
//! `sha256` may hold JSON objects, `tags` are separated by `;`, an empty cell is absent.

use super::{
    error::{DatasetError, FieldError, Problem},
    jsonl::parse_object,
    lines::MAX_LINE_BYTES,
    record::{Record, Records, open_file},
};
use csv::{ErrorKind, StringRecord};
use serde_json::{Map, Value};
use std::{
    collections::HashSet,
    fs::File,
    io::{self, Read},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

const READ_BYTES: u64 = 256 * 1024;

/// The rows of a CSV file, in order.
pub(super) fn records(path: &Path) -> Result<Records, DatasetError> {
    let left = Arc::new(AtomicU64::new(0));
    let source = Metered { file: open_file(path)?, left: Arc::clone(&left) };
    let reader = csv::ReaderBuilder::new().buffer_capacity(READ_BYTES as usize).from_reader(source);
    Ok(Box::new(Rows { reader, left, columns: None, ended: false }))
}

/// A file that refuses to read on when a row takes more than its limit, so that an unclosed quote
/// does not fill the memory.
struct Metered {
    file: File,
    left: Arc<AtomicU64>,
}

impl Read for Metered {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.left.load(Ordering::Relaxed);
        if left == 0 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let length = self.file.read(buffer)?;
        self.left.store(left.saturating_sub(length as u64), Ordering::Relaxed);
        Ok(length)
    }
}

struct Rows {
    reader: csv::Reader<Metered>,
    left: Arc<AtomicU64>,
    columns: Option<Vec<String>>,
    ended: bool,
}

impl Rows {
    fn header(&mut self) -> Result<Vec<String>, FieldError> {
        let header = self.reader.headers().map_err(|error| row_problem(&error))?;
        let columns: Vec<String> = header.iter().map(|name| name.trim().to_owned()).collect();
        if let [only] = columns.as_slice()
            && only.contains([';', '\t'])
        {
            let problem = "the header row is one column; separate columns by commas".to_owned();
            return Err(FieldError { field: None, problem: Problem::NotCsv(problem) });
        }
        let mut seen = HashSet::new();
        match columns.iter().find(|name| !name.is_empty() && !seen.insert(name.as_str())) {
            Some(twice) => {
                let problem = "two columns have this name; rename one".to_owned();
                Err(FieldError::new(twice, Problem::NotCsv(problem)))
            }
            None => Ok(columns),
        }
    }

    fn row(&mut self) -> Option<Result<StringRecord, FieldError>> {
        self.left.store(MAX_LINE_BYTES + READ_BYTES, Ordering::Relaxed);
        let mut row = StringRecord::new();
        match self.reader.read_record(&mut row) {
            Ok(true) if row.as_byte_record().as_slice().len() as u64 > MAX_LINE_BYTES => {
                Some(Err(FieldError { field: None, problem: Problem::TooLong }))
            }
            Ok(true) => Some(Ok(row)),
            Ok(false) => None,
            Err(error) => {
                // After an error of reading there is no telling where the next row begins.
                self.ended = error.is_io_error();
                Some(Err(row_problem(&error)))
            }
        }
    }
}

impl Iterator for Rows {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        if self.ended {
            return None;
        }
        if self.columns.is_none() {
            self.left.store(MAX_LINE_BYTES + READ_BYTES, Ordering::Relaxed);
            match self.header() {
                Ok(columns) => self.columns = Some(columns),
                Err(error) => {
                    self.ended = true;
                    return Some(Record { line: 1, fields: Err(error) });
                }
            }
        }
        let row = self.row()?;
        let columns = self.columns.as_deref().unwrap_or_default();
        let line = match &row {
            Ok(row) => row.position().map(csv::Position::line),
            Err(_) => None,
        };
        let line = line.unwrap_or_else(|| self.reader.position().line());
        Some(Record { line, fields: row.and_then(|row| fields(columns, &row)) })
    }
}

fn row_problem(error: &csv::Error) -> FieldError {
    let problem = match error.kind() {
        ErrorKind::Io(error) if error.kind() == io::ErrorKind::FileTooLarge => Problem::TooLong,
        ErrorKind::Io(error) => Problem::Unreadable(error.to_string()),
        ErrorKind::Utf8 { .. } => Problem::NotUtf8,
        ErrorKind::UnequalLengths { expected_len, len, .. } => Problem::NotCsv(format!(
            "{len} cells under {expected_len} columns; put cells with commas in quotes"
        )),
        _ => Problem::NotCsv(error.to_string()),
    };
    FieldError { field: None, problem }
}

fn fields(columns: &[String], row: &StringRecord) -> Result<Map<String, Value>, FieldError> {
    let cells = columns.iter().zip(row);
    cells
        .filter(|(column, cell)| !column.is_empty() && !cell.trim().is_empty())
        .map(|(column, cell)| match value(column, cell) {
            Ok(value) => Ok((column.clone(), value)),
            Err(problem) => Err(FieldError::new(column, problem)),
        })
        .collect()
}

/// A cell as a manifest would have it.
fn value(column: &str, cell: &str) -> Result<Value, Problem> {
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
