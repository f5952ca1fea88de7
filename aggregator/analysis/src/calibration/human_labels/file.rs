//! Files of labels: one JSON object per line, or a CSV table.

use super::{LabelError, Rateable, Ratings};
use juror_types::{byte_order_mark::without_byte_order_mark, unique_fields::UniqueFields};
use serde_json::{Value, error::Category};

const NO_ID: &str = "set the item's id, as text";

/// Ratings of one item by one rater.
#[derive(Debug, PartialEq)]
pub(super) struct LabelLine {
    pub(super) number: u64,
    pub(super) id: String,
    pub(super) rater: Option<String>,
    pub(super) values: Ratings,
}

impl LabelLine {
    fn new(number: u64, rateable: &Rateable<'_>) -> Self {
        Self { number, id: String::new(), rater: None, values: rateable.nothing() }
    }

    /// The line in messages.
    pub(super) fn place(&self, name: &str) -> String {
        place(name, self.number)
    }

    /// Problem of a second line of its rater on its item.
    pub(super) fn rated_twice(&self, first: u64) -> String {
        let id = &self.id;
        match &self.rater {
            Some(rater) => format!(
                "{rater:?} rated item {id:?} in line {first} already; remove one of the two"
            ),
            None => format!(
                "item {id:?} was rated in line {first} already; name the rater of each, or remove one"
            ),
        }
    }

    fn set_json(
        &mut self,
        rateable: &Rateable<'_>,
        field: &str,
        value: &Value,
    ) -> Result<(), String> {
        match (field, value) {
            ("id" | "rater" | "comment", Value::String(text)) => {
                self.set_text(rateable, field, text)
            }
            ("rater", Value::Null) | ("comment", _) => Ok(()),
            ("id", _) => Err(NO_ID.to_owned()),
            ("rater", _) => Err("a name is expected, as text".to_owned()),
            (_, value) => {
                let place = known(rateable, field)?;
                self.rate(place, rateable.json(place, value)?);
                Ok(())
            }
        }
    }

    fn set_text(&mut self, rateable: &Rateable<'_>, field: &str, text: &str) -> Result<(), String> {
        match (field, text.trim()) {
            ("id", id) => id.clone_into(&mut self.id),
            ("rater", rater) => self.rater = Some(rater.to_owned()).filter(|name| !name.is_empty()),
            ("comment", _) => {}
            (_, text) => {
                let place = known(rateable, field)?;
                self.rate(place, rateable.text(place, text)?);
            }
        }
        Ok(())
    }

    fn rate(&mut self, place: usize, value: Option<f64>) {
        if let Some(rating) = self.values.get_mut(place) {
            *rating = value;
        }
    }

    fn checked(self, place: &str) -> Result<Self, LabelError> {
        match self.id.is_empty() {
            true => Err(LabelError::of_field(place, "id", NO_ID)),
            false => Ok(self),
        }
    }
}

/// Parses a whole file by the format of its extension.
pub(super) fn lines(
    name: &str,
    bytes: &[u8],
    rateable: &Rateable<'_>,
) -> Result<Vec<LabelLine>, LabelError> {
    let whole = |problem: &str| LabelError::new(name, problem);
    let text = str::from_utf8(without_byte_order_mark(bytes));
    let text = text.map_err(|_| whole("not UTF-8; save the file as UTF-8"))?;
    let lower = name.to_ascii_lowercase();
    let lines = if lower.ends_with(".jsonl") {
        json_lines(name, text, rateable)
    } else if lower.ends_with(".csv") {
        table(name, text, rateable)
    } else {
        Err(whole("unknown file extension; use .jsonl or .csv"))
    }?;
    match lines.is_empty() {
        true => Err(whole("no lines; write one for each item and rater")),
        false => Ok(lines),
    }
}

fn json_lines(
    name: &str,
    text: &str,
    rateable: &Rateable<'_>,
) -> Result<Vec<LabelLine>, LabelError> {
    let mut lines = Vec::new();
    for (number, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
        let place = place(name, number);
        let UniqueFields(fields) = serde_json::from_str(text).map_err(|error| {
            // The parser sees one line, so its line number would be misleading.
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            let problem = match error.classify() {
                Category::Data if text.trim_start().starts_with('{') => message.to_owned(),
                _ => format!("not a JSON object: {message}, at column {}", error.column()),
            };
            LabelError::new(&place, problem)
        })?;
        let mut line = LabelLine::new(number, rateable);
        for (field, value) in &fields {
            line.set_json(rateable, field, value)
                .map_err(|problem| LabelError::of_field(&place, field, problem))?;
        }
        lines.push(line.checked(&place)?);
    }
    Ok(lines)
}

fn table(name: &str, text: &str, rateable: &Rateable<'_>) -> Result<Vec<LabelLine>, LabelError> {
    if has_open_quote(text) {
        return Err(LabelError::new(name, "a quote is not closed; close every quote"));
    }
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    let mut columns: Vec<String> = Vec::new();
    let mut lines = Vec::new();
    let mut row = csv::StringRecord::new();
    loop {
        let begins = reader.position().line();
        let more = reader.read_record(&mut row).map_err(|error| {
            let line = error.position().map_or(begins, csv::Position::line);
            LabelError::new(place(name, line), not_csv(&error))
        })?;
        if !more {
            return Ok(lines);
        }
        let number = row.position().map_or(begins, csv::Position::line);
        let place = place(name, number);
        if columns.is_empty() {
            columns = row.iter().map(|column| column.trim().to_owned()).collect();
            check_header(&columns, rateable, &place)?;
            continue;
        }
        let mut line = LabelLine::new(number, rateable);
        for (field, text) in columns.iter().zip(&row) {
            line.set_text(rateable, field, text)
                .map_err(|problem| LabelError::of_field(&place, field, problem))?;
        }
        lines.push(line.checked(&place)?);
    }
}

fn check_header(
    columns: &[String],
    rateable: &Rateable<'_>,
    place: &str,
) -> Result<(), LabelError> {
    for (position, column) in columns.iter().enumerate() {
        let wrong = |problem: String| LabelError::of_field(place, column, problem);
        if columns.iter().take(position).any(|before| before == column) {
            return Err(wrong("there are two columns of this name".to_owned()));
        }
        if !["id", "rater", "comment"].contains(&column.as_str()) {
            known(rateable, column).map_err(wrong)?;
        }
    }
    match columns.iter().any(|column| column == "id") {
        true => Ok(()),
        false => Err(LabelError::of_field(place, "id", NO_ID)),
    }
}

fn place(name: &str, line: u64) -> String {
    format!("{name}, line {line}")
}

/// True if the file ends within a quote, so that its last rows are part of one cell.
fn has_open_quote(text: &str) -> bool {
    let mark = "\0";
    let marked = format!("{text}\n{mark}");
    let mut builder = csv::ReaderBuilder::new();
    let mut reader = builder.has_headers(false).flexible(true).from_reader(marked.as_bytes());
    !matches!(reader.records().last(), Some(Ok(row)) if row == [mark][..])
}

fn known(rateable: &Rateable<'_>, field: &str) -> Result<usize, String> {
    let unknown = || format!("unknown field; use id, rater, comment, {}", rateable.names());
    rateable.place(field).ok_or_else(unknown)
}

fn not_csv(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} cells, and the header row has {expected_len}")
        }
        _ => format!("not CSV: {error}"),
    }
}
