//! Files of labels: one JSON object per line, or a CSV table.

use super::{
    Rateable,
    error::{LabelError, LabelPlace, LabelProblem},
};
use juror_types::{byte_order_mark::without_byte_order_mark, unique_fields::UniqueFields};
use serde_json::{Value, error::Category};

/// Ratings of one item by one rater.
#[derive(Debug, PartialEq)]
pub(super) struct LabelLine {
    pub(super) number: u64,
    pub(super) id: String,
    pub(super) rater: Option<String>,
    pub(super) values: Vec<Option<f64>>,
}

impl LabelLine {
    fn name(&mut self, field: &str, text: &str) {
        let name = text.trim().to_owned();
        match field {
            "id" => self.id = name,
            _ => self.rater = Some(name).filter(|name| !name.is_empty()),
        }
    }

    fn rate(&mut self, place: usize, value: Option<f64>) {
        if let Some(rating) = self.values.get_mut(place) {
            *rating = value;
        }
    }

    fn checked(self, place: &LabelPlace) -> Result<Self, LabelError> {
        match self.id.is_empty() {
            true => Err(place.clone().error(Some("id"), LabelProblem::NoId)),
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
    let whole = |problem| LabelPlace::file(name).error(None, problem);
    let text = str::from_utf8(without_byte_order_mark(bytes));
    let text = text.map_err(|_| whole(LabelProblem::NotUtf8))?;
    let lower = name.to_ascii_lowercase();
    let lines = if lower.ends_with(".jsonl") {
        json_lines(name, text, rateable)
    } else if lower.ends_with(".csv") {
        table(name, text, rateable)
    } else {
        Err(whole(LabelProblem::UnknownEnding))
    }?;
    if lines.is_empty() { Err(whole(LabelProblem::Empty)) } else { Ok(lines) }
}

fn json_lines(
    name: &str,
    text: &str,
    rateable: &Rateable<'_>,
) -> Result<Vec<LabelLine>, LabelError> {
    let mut lines = Vec::new();
    for (number, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
        let place = LabelPlace::line(name, number);
        let UniqueFields(fields) = serde_json::from_str(text).map_err(|error| {
            // The parser sees one line, so its line number would be misleading.
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            let problem = match error.classify() {
                Category::Data if text.trim_start().starts_with('{') => message.to_owned(),
                _ => format!("not a JSON object: {message}, at column {}", error.column()),
            };
            place.clone().error(None, LabelProblem::Unreadable(problem))
        })?;
        let mut line =
            LabelLine { number, id: String::new(), rater: None, values: rateable.nothing() };
        for (field, value) in &fields {
            let wrong = |problem| place.clone().error(Some(field), problem);
            match (field.as_str(), value) {
                ("id" | "rater", Value::String(text)) => line.name(field, text),
                ("rater", Value::Null) | ("comment", _) => {}
                ("id", _) => return Err(wrong(LabelProblem::NoId)),
                ("rater", _) => return Err(wrong(LabelProblem::NotAName)),
                (_, value) => {
                    let place = known(rateable, field).map_err(wrong)?;
                    line.rate(place, rateable.json(place, value).map_err(wrong)?);
                }
            }
        }
        lines.push(line.checked(&place)?);
    }
    Ok(lines)
}

fn table(name: &str, text: &str, rateable: &Rateable<'_>) -> Result<Vec<LabelLine>, LabelError> {
    if has_open_quote(text) {
        let problem = "a quote is not closed; close every quote".to_owned();
        return Err(LabelPlace::file(name).error(None, LabelProblem::Unreadable(problem)));
    }
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    let mut columns: Vec<String> = Vec::new();
    let mut lines = Vec::new();
    let mut row = csv::StringRecord::new();
    loop {
        let begins = reader.position().line();
        let more = reader.read_record(&mut row).map_err(|error| {
            let line = error.position().map_or(begins, csv::Position::line);
            LabelPlace::line(name, line).error(None, LabelProblem::Unreadable(not_csv(&error)))
        })?;
        if !more {
            return Ok(lines);
        }
        let number = row.position().map_or(begins, csv::Position::line);
        let place = LabelPlace::line(name, number);
        if columns.is_empty() {
            columns = row.iter().map(|column| column.trim().to_owned()).collect();
            header(&columns, rateable, &place)?;
            continue;
        }
        let mut line =
            LabelLine { number, id: String::new(), rater: None, values: rateable.nothing() };
        for (field, text) in columns.iter().zip(&row) {
            match field.as_str() {
                "id" | "rater" => line.name(field, text),
                "comment" => {}
                _ => {
                    let wrong = |problem| place.clone().error(Some(field), problem);
                    let place = known(rateable, field).map_err(wrong)?;
                    line.rate(place, rateable.text(place, text).map_err(wrong)?);
                }
            }
        }
        lines.push(line.checked(&place)?);
    }
}

fn header(
    columns: &[String],
    rateable: &Rateable<'_>,
    place: &LabelPlace,
) -> Result<(), LabelError> {
    for (position, column) in columns.iter().enumerate() {
        let wrong = |problem| place.clone().error(Some(column), problem);
        if columns.iter().take(position).any(|before| before == column) {
            return Err(wrong(LabelProblem::ColumnTwice));
        }
        if !["id", "rater", "comment"].contains(&column.as_str()) {
            known(rateable, column).map_err(wrong)?;
        }
    }
    if columns.iter().any(|column| column == "id") {
        return Ok(());
    }
    Err(place.clone().error(Some("id"), LabelProblem::NoId))
}

/// True if the file ends within a quote, so that its last rows are part of one cell.
fn has_open_quote(text: &str) -> bool {
    let mark = "\0";
    let marked = format!("{text}\n{mark}");
    let mut builder = csv::ReaderBuilder::new();
    let mut reader = builder.has_headers(false).flexible(true).from_reader(marked.as_bytes());
    !matches!(reader.records().last(), Some(Ok(row)) if row == [mark][..])
}

fn known(rateable: &Rateable<'_>, field: &str) -> Result<usize, LabelProblem> {
    rateable.place(field).ok_or_else(|| LabelProblem::Unknown { known: rateable.names() })
}

fn not_csv(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} cells, and the header row has {expected_len}")
        }
        _ => format!("not CSV: {error}"),
    }
}
