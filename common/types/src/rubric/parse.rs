//! Parsing of a rubric's file.

use super::{ReplyVersion, Rubric, Success, validate::validate};
use crate::{
    SCHEMA,
    id::Digest,
    toml_problem::{
        TomlProblem,
        key_path::{PathStep, line},
    },
};
use serde::Deserialize;
use std::fmt;
use toml::de::DeTable;

/// An invalid rubric, displayed with all its problems, one per line: file, line, key, problem and
/// remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RubricError {
    /// The file, as it was named.
    pub origin: String,
    /// Problems in the order of the file's lines, at least one.
    pub problems: Vec<TomlProblem>,
}

impl std::error::Error for RubricError {}

impl fmt::Display for RubricError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.problems.iter().map(|problem| format!("{}{problem}", self.origin));
        formatter.write_str(&lines.collect::<Vec<_>>().join("\n"))
    }
}

impl Rubric {
    /// Parses a rubric file. `origin` is the file name in errors. Unknown keys, another schema
    /// version and invalid values are errors; all invalid values are reported together.
    pub fn parse(text: &str, origin: &str) -> Result<Self, RubricError> {
        let fail = |problems| RubricError { origin: origin.to_owned(), problems };
        let misread = |error| fail(vec![TomlProblem::from_error(text, &error)]);
        let table = DeTable::parse(text).map_err(misread)?;
        if let Some(problem) = foreign_schema(text, table.get_ref()) {
            return Err(fail(vec![problem]));
        }
        let mut rubric: Self = toml::from_str(text).map_err(misread)?;
        rubric.digest = Digest::from_content(text.as_bytes());
        if rubric.reply == ReplyVersion::Two {
            rubric.vocabulary = rubric.findings.vocabulary();
        }
        let mut problems = validate(&rubric, &|steps| line(text, table.get_ref(), steps));
        if problems.is_empty() {
            return Ok(rubric);
        }
        problems.sort_by_key(|problem| problem.line);
        Err(fail(problems))
    }
}

/// A success bound in a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SuccessBounds {
    above: Option<f64>,
    at_least: Option<f64>,
}

impl TryFrom<SuccessBounds> for Success {
    type Error = &'static str;

    fn try_from(bounds: SuccessBounds) -> Result<Self, Self::Error> {
        match bounds {
            SuccessBounds { above: Some(bound), at_least: None } => Ok(Self::Above(bound)),
            SuccessBounds { above: None, at_least: Some(bound) } => Ok(Self::AtLeast(bound)),
            _ => Err("set exactly one bound, above or at_least"),
        }
    }
}

/// The problem of another schema version, which is checked first: anything else may differ.
fn foreign_schema(text: &str, table: &DeTable<'_>) -> Option<TomlProblem> {
    let message = match table.get("schema") {
        None => format!("is missing; add `schema = {SCHEMA}` at the top of the file"),
        Some(value) => {
            let found = value.get_ref().as_integer()?;
            let version = i64::from_str_radix(found.as_str(), found.radix()).ok();
            if version == Some(i64::from(SCHEMA)) {
                return None;
            }
            format!(
                "this file has schema {found}, and this program reads schema \
                 {SCHEMA}; use a rubric or a program of the other version"
            )
        }
    };
    let line = line(text, table, &[PathStep::Key("schema")]);
    Some(TomlProblem { line, key: "schema".to_owned(), message })
}

#[cfg(test)]
mod tests;
