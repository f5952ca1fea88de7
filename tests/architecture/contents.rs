//! Rules for the contents of files.

use super::sources::{CRATES, Source, all_rust_files, files_under, root, source_folder, sources};
use std::{fs, path::PathBuf};

#[test]
fn spawned_tasks_are_awaited_by_an_owner() {
    for Source { name, code } in sources(&CRATES) {
        let lines: Vec<&str> = code.lines().map(str::trim).collect();
        for (number, line) in lines.iter().enumerate() {
            if !["tokio::spawn(", "task::spawn("].iter().any(|spawn| line.contains(spawn)) {
                continue;
            }
            let before = number.checked_sub(1).map_or("", |before| lines[before]);
            let bound = [*line, before].into_iter().find_map(|line| line.strip_prefix("let "));
            let handle = bound.and_then(|rest| rest.split([' ', ':', '=']).next());
            let handle = handle.unwrap_or_else(|| panic!("{name} lets a task go: {line}"));
            let later = lines[number + 1..].iter().any(|line| line.contains(handle));
            assert!(later && !handle.starts_with('_'), "{name} forgets its task {handle}");
        }
        for word in ["unbounded_channel", "Handle::current().spawn", "detach()"] {
            assert!(!code.contains(word), "{name} has {word}");
        }
    }
}

#[test]
fn lints_are_expected_only_with_a_reason() {
    for Source { name, code } in sources(&CRATES) {
        assert!(!code.contains("#[allow("), "{name}: write #[expect(…, reason = \"…\")]");
        for (place, _) in code.match_indices("#[expect(") {
            let attribute = code[place..].split(")]").next().unwrap_or_default();
            assert!(attribute.contains("reason ="), "{name}: {attribute}");
        }
        for word in ["TODO", "FIXME", "todo!(", "unimplemented!("] {
            assert!(!code.contains(word), "{name} has {word}");
        }
    }
}

#[test]
fn no_result_is_nested_and_no_setting_is_mutated_to_pass_a_value() {
    for Source { name, code } in sources(&CRATES) {
        assert!(!code.contains("Result<Result<"), "{name} nests a result in another");
        let is_path = |left: &str| {
            left.chars().all(|letter| letter.is_alphanumeric() || "._".contains(letter))
        };
        let assigned = code.lines().filter_map(|line| line.trim().split_once(" = "));
        for (left, _) in assigned.filter(|(left, _)| is_path(left)) {
            assert!(!left.contains("settings."), "{name} changes {left}");
        }
    }
}

#[test]
fn shipped_files_are_readable() {
    use juror_app::settings::Settings;
    use juror_types::{model, rubric};
    assert!(model::Prices::builtin().iter().count() > 0);
    assert!(!model::Models::builtin().date().is_empty());
    Settings::resolve(&[]).unwrap();
    let mut shipped = 0;
    for entry in fs::read_dir(root().join("config/rubrics")).unwrap().map(Result::unwrap) {
        let name = entry.path().file_stem().unwrap().to_string_lossy().into_owned();
        let built_in = rubric::builtin_named(&name);
        built_in.unwrap_or_else(|| panic!("{name} is shipped and not built in")).parse().unwrap();
        shipped += 1;
    }
    assert!(shipped >= 2);
}

#[test]
fn architecture_map_names_only_existing_paths() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let files = all_rust_files();
    for name in map.split('`').skip(1).step_by(2) {
        let found = if let Some((module, item)) = name.rsplit_once("::") {
            is_in_module(&files, module, item)
        } else if name.ends_with(".rs") && !name.contains('/') {
            files.iter().any(|file| file.ends_with(name))
        } else if name.ends_with(".rs") || name.ends_with(".toml") {
            root().join(name).is_file()
        } else {
            continue;
        };
        assert!(found, "ARCHITECTURE.md names {name}, which is not there");
    }
}

/// True if a module of that name, or the crate, declares an item or a module of another.
fn is_in_module(files: &[PathBuf], module: &str, item: &str) -> bool {
    let module = module.rsplit("::").next().unwrap().trim_start_matches("juror_");
    let declarations =
        ["fn", "struct", "trait", "enum", "mod"].map(|kind| format!("{kind} {item}"));
    let roots = [format!("{module}.rs"), format!("{module}/src/lib.rs")];
    files.iter().filter(|file| roots.iter().any(|root| file.ends_with(root))).any(|file| {
        let code = fs::read_to_string(file).unwrap();
        let is_exported = code
            .split("pub use")
            .skip(1)
            .any(|names| names.split(';').next().is_some_and(|names| names.contains(item)));
        is_exported || declarations.iter().any(|declaration| code.contains(declaration))
    })
}

#[test]
fn no_file_has_more_than_450_lines() {
    for folder in CRATES.iter().map(|folder| source_folder(folder)).chain([root().join("tests")]) {
        for path in files_under(&folder) {
            let lines = fs::read_to_string(&path).unwrap().lines().count();
            assert!(lines <= 450, "{} has {lines} lines: split it", path.display());
        }
    }
}
