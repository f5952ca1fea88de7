//! From a rubric's file to a rubric.

use super::{
    Rubric, RubricError, RubricProblem,
    place::{Step, line, line_of_offset},
    validate::validate,
};
use crate::{SCHEMA, id::Digest};
use serde::Deserialize as _;
use toml::de::DeTable;

impl Rubric {
    /// Reads a rubric's file. `origin` names the file in errors. Unknown keys, another version of
    /// the format, and everything that makes no sense are errors; all of the latter kind are
    /// named at once.
    pub fn parse(text: &str, origin: &str) -> Result<Self, RubricError> {
        let fail = |problems| RubricError { origin: origin.to_owned(), problems };
        let misread = |error: toml::de::Error| fail(vec![problem_of(text, &error)]);
        let table = DeTable::parse(text).map_err(misread)?;
        if let Some(problem) = foreign_schema(text, table.get_ref()) {
            return Err(fail(vec![problem]));
        }
        let deserializer = toml::Deserializer::parse(text).map_err(misread)?;
        let mut rubric = Self::deserialize(deserializer).map_err(misread)?;
        rubric.digest = Digest::of(text.as_bytes());
        let mut problems = validate(&rubric, &|steps| line(text, table.get_ref(), steps));
        if problems.is_empty() {
            return Ok(rubric);
        }
        problems.sort_by_key(|problem| problem.line);
        Err(fail(problems))
    }
}

/// A file of another version may differ in anything, so its version is looked at before the rest.
fn foreign_schema(text: &str, table: &DeTable<'_>) -> Option<RubricProblem> {
    let message = match table.get("schema") {
        None => format!("is missing; write `schema = {SCHEMA}` in the file's first lines"),
        Some(value) => {
            let found = value.get_ref().as_integer()?;
            let version = i64::from_str_radix(found.as_str(), found.radix()).ok();
            if version == Some(i64::from(SCHEMA)) {
                return None;
            }
            format!(
                "this file has version {found} of the format, and this program reads version \
                 {SCHEMA}; take a rubric or a program of the other version"
            )
        }
    };
    let line = line(text, table, &[Step::Key("schema")]);
    Some(RubricProblem { line, key: "schema".to_owned(), message })
}

/// TOML's own errors, without the excerpt that they draw.
fn problem_of(text: &str, error: &toml::de::Error) -> RubricProblem {
    let mut message = error.message().trim().replace('\n', ", ").replace('`', "'");
    if message.starts_with("unknown field") {
        message.push_str("; correct its spelling or take it out");
    } else if message.starts_with("missing field") {
        message.push_str("; add it");
    }
    // What is missing from the whole file has no line.
    let missing_at_top = |start: usize| start == 0 && message.starts_with("missing field");
    let start = error.span().map(|span| span.start).filter(|start| !missing_at_top(*start));
    let line = start.map(|start| line_of_offset(text, start));
    RubricProblem { line, key: String::new(), message }
}

#[cfg(test)]
mod tests;
