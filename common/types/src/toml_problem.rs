//! Problems of a TOML file of the user: settings, rubrics, gates, models and prices.

pub(crate) mod key_path;

use crate::suggestion;
use key_path::{dotted_at, line_of_offset};
use std::fmt;
use toml::de::DeTable;

/// Problem of a TOML file, displayed as the text after the file's name: `:3: judge.model: …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TomlProblem {
    /// Line number, from 1; `None` if something is missing from the whole file.
    pub line: Option<usize>,
    /// The key, as in `criteria.layout_accuracy.weight`; empty where the file is not TOML.
    pub key: String,
    /// The problem and the remedy.
    pub message: String,
}

impl TomlProblem {
    /// The problem of a syntax or type error in this text, without the library's excerpt.
    pub fn from_error(text: &str, error: &toml::de::Error) -> Self {
        let message = message_of(text, error);
        // A field missing from the whole file has no line.
        let missing_at_top = |start: usize| start == 0 && message.starts_with("missing field");
        let start = error.span().map(|span| span.start).filter(|start| !missing_at_top(*start));
        let table = DeTable::parse(text).ok();
        let key = start.zip(table).and_then(|(start, table)| dotted_at(table.get_ref(), start));
        let line = start.map(|start| line_of_offset(text, start));
        Self { line, key: key.unwrap_or_default(), message }
    }
}

impl fmt::Display for TomlProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(formatter, ":{line}")?;
        }
        if !self.key.is_empty() {
            write!(formatter, ": {}", self.key)?;
        }
        write!(formatter, ": {}", self.message)
    }
}

fn message_of(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().trim();
    // The library quotes the unknown name first and those that it expects after it.
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    match quoted.split_first() {
        Some((unknown, known)) if message.starts_with("unknown field") => {
            unknown_key(unknown, known)
        }
        Some((unknown, known)) if message.starts_with("unknown variant") => {
            format!("unknown value {unknown:?}; use {}", one_of(known))
        }
        Some((missing, _)) if message.starts_with("missing field") => {
            format!("missing field '{missing}'; add it")
        }
        _ if message == "duplicate key" => {
            let key = error.span().and_then(|span| text.get(span)).unwrap_or_default();
            format!("the key {key} is a duplicate; remove one")
        }
        _ => without_type_names(&message.replace('\n', ", ").replace('`', "'")),
    }
}

fn unknown_key(unknown: &str, known: &[&str]) -> String {
    match (suggestion::find(unknown, known), known) {
        (Some(meant), _) => format!("unknown key '{unknown}'; did you mean '{meant}'?"),
        (None, []) => format!("unknown key '{unknown}'; remove it"),
        (None, known) => format!("unknown key '{unknown}'; use {}", one_of(known)),
    }
}

fn one_of(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [name] => format!("'{name}'"),
        [first @ .., last] => {
            let first: Vec<_> = first.iter().map(|name| format!("'{name}'")).collect();
            format!("{} or '{last}'", first.join(", "))
        }
    }
}

/// The library's message with a value's type in words, not as a type of Rust.
fn without_type_names(message: &str) -> String {
    let Some((found, expected)) = message.rsplit_once("expected ") else {
        return message.to_owned();
    };
    let words = match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number of 0 or more",
        "i64" => "a whole number",
        "f64" => "a number",
        "path string" => "a path as a string",
        "a sequence" => "a list",
        "a boolean" => "true or false",
        "a map" => "a table",
        other => other,
    };
    format!("{found}expected {words}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        #[serde(rename = "judge")]
        _judge: Judge,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Judge {
        #[serde(rename = "model")]
        _model: String,
        #[serde(rename = "timeout_seconds")]
        _timeout_seconds: Option<u64>,
        #[serde(rename = "lane")]
        _lane: Option<Purchase>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Purchase {
        Batch,
        Flex,
    }

    fn problem(text: &str) -> String {
        let error = toml::from_str::<File>(text).unwrap_err();
        TomlProblem::from_error(text, &error).to_string()
    }

    #[test]
    fn problems_name_line_key_and_remedy_without_rust_types() {
        for (text, expected) in [
            (
                "\n[judge]\nmodell = \"x\"",
                ":3: judge.modell: unknown key 'modell'; did you mean 'model'?",
            ),
            (
                "[judge]\nsize = 3",
                ":2: judge.size: unknown key 'size'; use 'model', 'timeout_seconds' or 'lane'",
            ),
            ("[jugde]\n", ":1: jugde: unknown key 'jugde'; did you mean 'judge'?"),
            (
                "[judge]\ntimeout_seconds = 1.5",
                ":2: judge.timeout_seconds: invalid type: floating point '1.5', expected a whole \
                 number of 0 or more",
            ),
            (
                "[judge]\nlane = \"bath\"",
                ":2: judge.lane: unknown value \"bath\"; use 'batch' or 'flex'",
            ),
            ("\n[judge]", ":2: judge: missing field 'model'; add it"),
            ("", ": missing field 'judge'; add it"),
        ] {
            assert_eq!(problem(text), expected, "{text}");
        }
        assert!(problem("[judge").starts_with(":1: "), "{}", problem("[judge"));
    }
}
