//! Validation of a rubric's values.

mod findings;
mod scoring;
mod wording;

use super::Rubric;
use crate::toml_problem::{
    TomlProblem,
    key_path::{
        PathStep::{self, Entry, Key},
        dotted,
    },
};
use std::collections::HashSet;

/// All problems of a rubric; `line` finds the line of a place in its file.
pub(super) fn validate(
    rubric: &Rubric,
    line: &dyn Fn(&[PathStep<'_>]) -> Option<usize>,
) -> Vec<TomlProblem> {
    let mut problems = Problems { line, found: Vec::new() };
    wording::check(rubric, &mut problems);
    scoring::check(rubric, &mut problems);
    findings::check(rubric, &mut problems);
    problems.found
}

/// The problems found.
struct Problems<'file> {
    line: &'file dyn Fn(&[PathStep<'_>]) -> Option<usize>,
    found: Vec<TomlProblem>,
}

impl Problems<'_> {
    fn add(&mut self, place: &[PathStep<'_>], message: impl Into<String>) {
        let (line, key) = ((self.line)(place), dotted(place));
        self.found.push(TomlProblem { line, key, message: message.into() });
    }

    /// Checks names in replies, results and reports, which must be plain and unique. `list`
    /// contains them, `field` is their key.
    fn check_names<'rubric>(
        &mut self,
        list: &[PathStep<'_>],
        field: &str,
        names: impl Iterator<Item = &'rubric str>,
    ) {
        let mut seen = HashSet::new();
        for (position, name) in names.enumerate() {
            let place = [list, &[Entry(position, name), Key(field)]].concat();
            if !is_plain_name(name) {
                self.add(&place, bad_name(name));
            } else if !seen.insert(name) {
                self.add(&place, format!("{name:?} is a duplicate; rename one"));
            }
        }
    }

    fn check_filled(&mut self, place: &[PathStep<'_>], text: &str) {
        if text.trim().is_empty() {
            self.add(place, "is empty; add a text for the judge and the readers");
        }
    }
}

/// True for lowercase ASCII letters, digits and underscores, at most 64, starting with a letter: a
/// name that JSON schemas of all providers, CSV headers and file names accept.
fn is_plain_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    name.len() <= 64
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(fits)
}

fn bad_name(name: &str) -> String {
    format!(
        "{name:?} is not a valid name; use at most 64 lowercase letters, digits and \
         underscores, starting with a letter"
    )
}
