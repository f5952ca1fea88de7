//! A JSONL manifest: one JSON object per line.

use super::{
    error::{DatasetError, DatasetProblem, FieldError},
    lines::{BoundedLines, MAX_LINE_BYTES},
};
use crate::dataset::raw::{RawItem, Records, kind_of, open_file};
use juror_types::unique_fields::UniqueFields;
use serde_json::{Map, Value};
use std::{
    io::{BufRead, BufReader},
    path::Path,
};

const READ_BYTES: usize = 256 * 1024;

/// The objects of a manifest, in order.
pub(super) fn records(path: &Path) -> Result<Records, DatasetError> {
    let file = BufReader::with_capacity(READ_BYTES, open_file(path)?);
    Ok(Box::new(JsonLines(BoundedLines::new(file, MAX_LINE_BYTES))))
}

/// One JSON object.
pub(super) fn parse_object(text: &str) -> Result<Map<String, Value>, DatasetProblem> {
    let error = match serde_json::from_str(text) {
        Ok(UniqueFields(fields)) => return Ok(fields),
        Err(error) => error,
    };
    match serde_json::from_str::<Value>(text) {
        Ok(other) if !other.is_object() => {
            Err(DatasetProblem::WrongType { expected: "a JSON object", found: kind_of(&other) })
        }
        _ => {
            let message = error.to_string();
            // The parser sees one line at a time, so its line number would be misleading.
            let end = message.rfind(" at line ").unwrap_or(message.len());
            let message = message.get(..end).unwrap_or_default().to_owned();
            Err(DatasetProblem::NotJson { column: error.column(), message })
        }
    }
}

struct JsonLines<R>(BoundedLines<R>);

impl<R: BufRead> Iterator for JsonLines<R> {
    type Item = RawItem;

    fn next(&mut self) -> Option<RawItem> {
        let fields = self.0.next_line()?.and_then(parse_object).map_err(FieldError::from);
        Some(RawItem { line: self.0.number(), fields })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn non_object_line_is_refused_with_its_column() {
        let broken = parse_object(r#"{"id": }"#).unwrap_err();
        assert_eq!(
            broken.to_string(),
            "not valid JSON at column 8: expected value; write one JSON object per line"
        );
        let list = parse_object("[1]").unwrap_err();
        assert_eq!(list.to_string(), "expected a JSON object, found a list");
        assert!(parse_object(&"[".repeat(10_000)).is_err());
    }
}
