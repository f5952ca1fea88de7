//! Raw items, into which all line-based formats are read before their fields are parsed.

use super::error::{DatasetError, FieldError};
use serde_json::{Map, Value};
use std::{fs::File, io, path::Path};

/// One line: named values, or the reason why it has none.
pub(super) struct RawItem {
    /// Line number, from 1.
    pub(super) line: u64,
    pub(super) fields: Result<Map<String, Value>, FieldError>,
}

/// Lines in order.
pub(super) type Records = Box<dyn Iterator<Item = RawItem> + Send>;

/// Opens a file that was checked to exist.
pub(super) fn open_file(path: &Path) -> Result<File, DatasetError> {
    File::open(path).map_err(|source| unreadable(path, source))
}

pub(super) fn unreadable(path: &Path, source: io::Error) -> DatasetError {
    match source.kind() {
        io::ErrorKind::NotFound => DatasetError::NotFound(path.to_owned()),
        _ => DatasetError::Unreadable { path: path.to_owned(), source },
    }
}

/// Kind of a value, as text.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
