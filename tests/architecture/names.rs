//! Rules for names.

use super::sources::{
    CRATES, Source, all_rust_files, files_under, files_with, source_folder, sources,
};
use std::{collections::BTreeMap, path::Path};

/// Metaphors that stand in for terms of the field.
const PICTURES: [&str; 23] = [
    "house",
    "home",
    "homes",
    "room",
    "rooms",
    "door",
    "desk",
    "shelf",
    "ears",
    "guest",
    "guests",
    "company",
    "seat",
    "patience",
    "workplace",
    "standing",
    "showcase",
    "story",
    "stories",
    "scene",
    "turmoil",
    "seam",
    "workbench",
];

const DRAWERS: [&str; 5] = ["util", "utils", "helper", "helpers", "misc"];

#[test]
fn type_names_are_unique_in_the_workspace() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in all_rust_files() {
        let text = std::fs::read_to_string(&path).unwrap();
        for type_name in text.lines().filter_map(visible_type) {
            places.entry(type_name.to_owned()).or_default().push(path.display().to_string());
        }
    }
    places.retain(|_, names| names.len() > 1);
    assert!(places.is_empty(), "types of the same name: {places:#?}");
}

#[test]
fn names_are_words_of_the_field() {
    for Source { name, code } in sources(&CRATES) {
        let stem = Path::new(&name).file_stem().unwrap().to_str().unwrap();
        let words: Vec<String> = words_of(stem).collect();
        for word in PICTURES.iter().chain(&DRAWERS) {
            assert!(!words.contains(&(*word).to_owned()), "{name}: {word}");
        }
        for line in code.lines() {
            let defined = visible_type(line).or_else(|| function(line)).or_else(|| constant(line));
            let Some(defined) = defined else { continue };
            let found = words_of(defined).find(|word| PICTURES.contains(&word.as_str()));
            assert!(found.is_none(), "{name}: {defined}");
        }
    }
}

#[test]
fn files_are_named_by_words_of_the_field() {
    let lua = files_with(&source_folder("common/ledger"), "lua");
    assert!(!lua.is_empty());
    for path in all_rust_files().into_iter().chain(lua) {
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let found = words_of(stem).find(|word| PICTURES.contains(&word.as_str()));
        assert!(found.is_none(), "{}: {found:?}", path.display());
    }
}

/// Words that name no documented item.
const NO_NOUNS: [&str; 13] = [
    "What", "How", "Who", "Whoever", "Nobody", "Somebody", "Whatever", "However", "Whether", "If",
    "Where", "When", "So",
];

#[test]
fn doc_comments_begin_with_what_they_document() {
    let mut found = Vec::new();
    for path in CRATES.iter().flat_map(|folder| files_under(&source_folder(folder))) {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut before = "";
        for (line, number) in text.lines().map(str::trim).zip(1..) {
            let doc = ["///", "//!"].into_iter().find(|mark| line.starts_with(mark));
            let begins = doc.is_some_and(|mark| !before.starts_with(mark));
            let first = doc.and_then(|mark| line.strip_prefix(mark)?.split_whitespace().next());
            if begins && first.is_some_and(|word| NO_NOUNS.contains(&word)) {
                found.push(format!("{}:{number}: {line}", path.display()));
            }
            before = line;
        }
    }
    assert!(found.is_empty(), "begin these with a noun: {found:#?}");
}

#[test]
fn doc_comments_say_more_than_a_name() {
    let mut found = Vec::new();
    for path in CRATES.iter().flat_map(|folder| files_under(&source_folder(folder))) {
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for (window, number) in lines.windows(3).zip(2..) {
            let is_alone = [window[0], window[2]].iter().all(|line| !line.starts_with("///"));
            let name = window[1].strip_prefix("/// The ").and_then(|rest| rest.strip_suffix('.'));
            if is_alone && name.is_some_and(|name| name.split_whitespace().count() == 1) {
                found.push(format!("{}:{number}: {}", path.display(), window[1]));
            }
        }
    }
    assert!(found.is_empty(), "say what these are, or remove them: {found:#?}");
}

/// The name of a type that a line defines for other modules.
fn visible_type(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let rest = ["pub ", "pub(crate) ", "pub(super) "]
        .iter()
        .find_map(|visibility| line.strip_prefix(visibility))?;
    let kinds = ["struct ", "enum ", "trait ", "type "];
    identifier(kinds.iter().find_map(|kind| rest.strip_prefix(kind))?)
}

fn function(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once("fn ")?;
    let is_definition = before
        .split_whitespace()
        .all(|word| ["async", "const"].contains(&word) || word.starts_with("pub"));
    identifier(rest).filter(|_| is_definition)
}

fn constant(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let rest = line.strip_prefix("pub ").or_else(|| line.strip_prefix("pub(crate) "));
    let rest = rest.or_else(|| line.strip_prefix("pub(super) ")).unwrap_or(line);
    identifier(["const ", "static "].iter().find_map(|kind| rest.strip_prefix(kind))?)
}

fn identifier(text: &str) -> Option<&str> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.split(|letter| !is_part(letter)).next().filter(|name| !name.is_empty())
}

/// The lower-case words of a name in `snake_case` or `CamelCase`.
fn words_of(name: &str) -> impl Iterator<Item = String> {
    let mut spaced = String::new();
    let is_constant = !name.chars().any(char::is_lowercase);
    for letter in name.chars() {
        if letter == '_' || letter.is_uppercase() && !is_constant {
            spaced.push(' ');
        }
        spaced.extend(letter.to_lowercase().filter(|letter| *letter != '_'));
    }
    spaced.split_whitespace().map(str::to_owned).collect::<Vec<_>>().into_iter()
}
