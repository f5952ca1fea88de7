//! Places in a rubric's file, for the line numbers of problems.

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// One step of the path from the file's top to a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum PathStep<'rubric> {
    /// A key of a table.
    Key(&'rubric str),
    /// An entry of a list: its position, and its own name.
    Entry(usize, &'rubric str),
}

/// A path for display, as in `criteria.layout_accuracy.weight`.
pub(super) fn dotted(steps: &[PathStep<'_>]) -> String {
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
pub(super) fn line(text: &str, table: &DeTable<'_>, steps: &[PathStep<'_>]) -> Option<usize> {
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

/// The path of the innermost key whose value starts at this byte.
pub(super) fn dotted_at(table: &DeTable<'_>, offset: usize) -> Option<String> {
    let mut steps = Vec::new();
    table
        .iter()
        .any(|(key, value)| leads_to(PathStep::Key(key.get_ref()), value, offset, &mut steps))
        .then(|| dotted(&steps))
}

/// True if the byte is the start of this value or of one inside it; `steps` is then the path.
fn leads_to<'table>(
    step: PathStep<'table>,
    value: &'table Spanned<DeValue<'_>>,
    offset: usize,
    steps: &mut Vec<PathStep<'table>>,
) -> bool {
    steps.push(step);
    let inside = match value.get_ref() {
        DeValue::Table(table) => table
            .iter()
            .any(|(key, value)| leads_to(PathStep::Key(key.get_ref()), value, offset, steps)),
        DeValue::Array(array) => array.iter().enumerate().any(|(at, value)| {
            leads_to(PathStep::Entry(at, own_name(value)), value, offset, steps)
        }),
        _ => false,
    };
    let found = inside || value.span().start == offset;
    if !found {
        steps.pop();
    }
    found
}

/// An entry's own name.
fn own_name<'table>(value: &'table Spanned<DeValue<'_>>) -> &'table str {
    let table = value.get_ref().as_table();
    let named = |key| table.and_then(|table| get(table, key));
    named("key").or_else(|| named("name")).and_then(|it| it.get_ref().as_str()).unwrap_or_default()
}

/// The line number of a byte, from 1.
pub(super) fn line_of_offset(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}

fn get<'table, 'text>(
    table: &'table DeTable<'text>,
    key: &str,
) -> Option<&'table Spanned<DeValue<'text>>> {
    table.iter().find(|(name, _)| name.get_ref().as_ref() == key).map(|(_, value)| value)
}
