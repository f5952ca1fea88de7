//! Cyclic dependencies between the modules of a crate, at any depth.

use super::sources::{CRATES, Source, root, source_folder, sources};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

/// Names from the crate's root to a module or an item.
type ItemPath = Vec<String>;

/// Modules, each with the sibling modules that it or a submodule uses.
type Uses = BTreeMap<ItemPath, BTreeSet<ItemPath>>;

#[test]
fn each_crate_has_no_module_cycles() {
    for folder in CRATES {
        let circle = in_circles(&uses_of(folder));
        assert!(circle.is_empty(), "modules of {folder} use each other in a circle: {circle:#?}");
    }
}

fn uses_of(folder: &str) -> Uses {
    let top = source_folder(folder);
    let top = top.strip_prefix(root()).unwrap().to_str().unwrap();
    let sources = sources(&[folder]);
    let modules: BTreeSet<ItemPath> =
        sources.iter().flat_map(|each| with_parents(&module_path(&each.name, top))).collect();
    let mut uses = Uses::new();
    for Source { name, code } in &sources {
        let own = module_path(name, top);
        for used in used_paths(code, &own) {
            let shared = own.iter().zip(&used).take_while(|(left, right)| left == right).count();
            let (Some(user), Some(used)) = (own.get(..=shared), used.get(..=shared)) else {
                continue;
            };
            if modules.contains(used) {
                uses.entry(user.to_owned()).or_default().insert(used.to_owned());
            }
        }
    }
    uses
}

fn module_path(name: &str, top: &str) -> ItemPath {
    let inside = Path::new(name).strip_prefix(top).unwrap().with_extension("");
    let names = inside.iter().map(|part| part.to_str().unwrap().to_owned());
    names.filter(|name| !["lib", "main"].contains(&name.as_str())).collect()
}

fn with_parents(module: &[String]) -> Vec<ItemPath> {
    (1..=module.len()).map(|length| module[..length].to_vec()).collect()
}

/// The paths that begin with `crate` or `super` in the code of a module.
fn used_paths(code: &str, own: &[String]) -> Vec<ItemPath> {
    let mut paths = Vec::new();
    for (start, from) in [("crate::", &[][..]), ("super::", own)] {
        for (place, _) in code.match_indices(start) {
            let before = code[..place].chars().next_back();
            if !before.is_some_and(|letter| is_part(letter) || letter == ':') {
                expand(&code[place..], from, &mut paths);
            }
        }
    }
    paths
}

/// Parses the `use` tree at the start of a text.
fn expand(text: &str, from: &[String], paths: &mut Vec<ItemPath>) {
    if let Some(group) = text.strip_prefix('{') {
        for member in group_members(group) {
            expand(member, from, paths);
        }
        return;
    }
    let length = text.find(|letter| !is_part(letter)).unwrap_or(text.len());
    let (name, rest) = text.split_at(length);
    let path = match name {
        "crate" => Vec::new(),
        "super" => from[..from.len().saturating_sub(1)].to_vec(),
        _ => from.iter().cloned().chain([name.to_owned()]).collect(),
    };
    match rest.strip_prefix("::") {
        Some(rest) => expand(rest, &path, paths),
        None => paths.push(path),
    }
}

/// The members of a `use` group, whose opening brace is read.
fn group_members(group: &str) -> Vec<&str> {
    let (mut depth, mut start, mut members) = (0, 0, Vec::new());
    for (place, letter) in group.char_indices() {
        match letter {
            ',' | '}' if depth == 0 => {
                members.push(group[start..place].trim());
                start = place + 1;
                if letter == '}' {
                    break;
                }
            }
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
    }
    members.retain(|member| !member.is_empty());
    members
}

fn is_part(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Modules that are part of a cycle.
fn in_circles(uses: &Uses) -> BTreeSet<String> {
    let reaches = |from: &ItemPath| {
        let mut reached = BTreeSet::new();
        let mut open: Vec<&ItemPath> = uses[from].iter().collect();
        while let Some(next) = open.pop() {
            if reached.insert(next) {
                open.extend(uses.get(next).into_iter().flatten());
            }
        }
        reached.contains(from)
    };
    uses.keys().filter(|path| reaches(path)).map(|path| path.join("::")).collect()
}

#[test]
fn use_trees_are_parsed() {
    let own = ["a", "b"].map(str::to_owned);
    let read = used_paths("use crate::{x::{y::Z, w}, v::self}; super::super::t(super::u)", &own);
    let joined: Vec<String> = read.iter().map(|path| path.join("::")).collect();
    assert_eq!(joined, ["x::y::Z", "x::w", "v::self", "t", "a::u"]);
}
