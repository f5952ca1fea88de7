//! No circle between the modules of a crate.

use super::sources::{CRATES, Source, root, source_folder, sources};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

/// The modules at the top of a crate, each with those that it uses.
type Uses = BTreeMap<String, BTreeSet<String>>;

#[test]
fn modules_of_a_crate_use_each_other_one_way() {
    for folder in CRATES {
        let circle = in_circles(&uses_of(folder));
        assert!(circle.is_empty(), "modules of {folder} use each other in a circle: {circle:?}");
    }
}

fn uses_of(folder: &str) -> Uses {
    let top = source_folder(folder);
    let top = top.strip_prefix(root()).unwrap().to_str().unwrap();
    let sources = sources(&[folder]);
    let module = |name: &str| {
        let inside = name.strip_prefix(top)?.trim_start_matches('/');
        let first = inside.split('/').next()?;
        let stem = Path::new(first).file_stem()?.to_str()?;
        (!["lib", "main"].contains(&stem)).then(|| stem.to_owned())
    };
    let modules: BTreeSet<String> = sources.iter().filter_map(|each| module(&each.name)).collect();
    let mut uses = Uses::new();
    for Source { name, code } in &sources {
        let Some(own) = module(name) else { continue };
        let used = paths_from_the_root(code).into_iter();
        let others = used.filter(|other| *other != own && modules.contains(other));
        uses.entry(own.clone()).or_default().extend(others);
    }
    uses
}

/// The first names of all paths that begin with `crate::`.
fn paths_from_the_root(code: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            Some(group) => names.extend(group_members(group)),
            None => names.extend(first_word(rest)),
        }
    }
    names
}

/// The first names of the members of a `use` group, whose opening brace is read.
fn group_members(group: &str) -> Vec<String> {
    let (mut depth, mut begins, mut names) = (0, true, Vec::new());
    for (place, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => begins = true,
            _ if begins && depth == 0 && !letter.is_whitespace() => {
                names.extend(first_word(&group[place..]));
                begins = false;
            }
            _ => {}
        }
    }
    names
}

fn first_word(text: &str) -> Option<String> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let word = text.split(|letter| !is_part(letter)).next()?;
    (!word.is_empty()).then(|| word.to_owned())
}

/// The modules that reach themselves.
fn in_circles(uses: &Uses) -> BTreeSet<String> {
    let reaches = |from: &String| {
        let mut reached = BTreeSet::new();
        let mut open: Vec<&String> = uses[from].iter().collect();
        while let Some(next) = open.pop() {
            if reached.insert(next) {
                open.extend(uses.get(next).into_iter().flatten());
            }
        }
        reached.contains(from)
    };
    uses.keys().filter(|name| reaches(name)).cloned().collect()
}
