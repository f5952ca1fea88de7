//! Paths of keys in a TOML file and the lines of their values.

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// One step of the path from the file's top to a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PathStep<'key> {
    /// A key of a table.
    Key(&'key str),
    /// An array element: its position, and its `key` or `name`; empty without either.
    Entry(usize, &'key str),
}

/// A path for display, as in `criteria.layout_accuracy.weight`.
pub(crate) fn dotted(steps: &[PathStep<'_>]) -> String {
    let mut text = String::new();
    for step in steps {
        match step {
            PathStep::Key(key) if text.is_empty() => text.push_str(key),
            PathStep::Key(key) => text.extend([".", key]),
            PathStep::Entry(position, "") => text.push_str(&format!("[{}]", position + 1)),
            PathStep::Entry(_, name) => text.extend([".", name]),
        }
    }
    text
}

/// The line of a value, or of the closest enclosing value that the file has.
pub(crate) fn line(text: &str, table: &DeTable<'_>, steps: &[PathStep<'_>]) -> Option<usize> {
    let (PathStep::Key(first), rest) = steps.split_first()? else { return None };
    let mut value = get(table, first)?;
    for step in rest {
        let inner = match (step, value.get_ref()) {
            (PathStep::Key(key), DeValue::Table(table)) => get(table, key),
            (PathStep::Entry(position, _), DeValue::Array(array)) => array.get(*position),
            _ => None,
        };
        match inner {
            Some(inner) => value = inner,
            None => break,
        }
    }
    Some(line_of_offset(text, value.span().start))
}

/// Path of the innermost key or value that starts at this byte.
pub(crate) fn dotted_at(table: &DeTable<'_>, offset: usize) -> Option<String> {
    let mut steps = Vec::new();
    key_starts_at(table, offset, &mut steps).then(|| dotted(&steps))
}

/// The line number of a byte, from 1.
pub(crate) fn line_of_offset(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}

/// True if the byte is the start of a key or value of this table; `steps` is then its path.
fn key_starts_at<'table>(
    table: &'table DeTable<'_>,
    offset: usize,
    steps: &mut Vec<PathStep<'table>>,
) -> bool {
    table.iter().any(|(key, value)| {
        steps.push(PathStep::Key(key.get_ref()));
        let found = key.span().start == offset || value_starts_at(value, offset, steps);
        if !found {
            steps.pop();
        }
        found
    })
}

/// True if the byte is the start of this value or of one inside it; `steps` is extended to it.
fn value_starts_at<'table>(
    value: &'table Spanned<DeValue<'_>>,
    offset: usize,
    steps: &mut Vec<PathStep<'table>>,
) -> bool {
    let inside = match value.get_ref() {
        DeValue::Table(table) => key_starts_at(table, offset, steps),
        DeValue::Array(array) => array.iter().enumerate().any(|(position, value)| {
            steps.push(PathStep::Entry(position, own_name(value)));
            let found = value_starts_at(value, offset, steps);
            if !found {
                steps.pop();
            }
            found
        }),
        _ => false,
    };
    inside || value.span().start == offset
}

/// `key` or `name` of an array element; empty without either.
fn own_name<'table>(value: &'table Spanned<DeValue<'_>>) -> &'table str {
    let table = value.get_ref().as_table();
    let named = |key| table.and_then(|table| get(table, key));
    named("key")
        .or_else(|| named("name"))
        .and_then(|value| value.get_ref().as_str())
        .unwrap_or_default()
}

fn get<'table, 'text>(
    table: &'table DeTable<'text>,
    key: &str,
) -> Option<&'table Spanned<DeValue<'text>>> {
    table.iter().find(|(name, _)| name.get_ref().as_ref() == key).map(|(_, value)| value)
}
