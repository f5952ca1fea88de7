//! The source files of the workspace.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// The folders of all crates.
pub const CRATES: [&str; 19] = [
    "cli",
    "app",
    "server",
    "producer",
    "worker",
    "worker/evidence",
    "worker/image",
    "worker/render",
    "aggregator",
    "aggregator/report",
    "aggregator/analysis",
    "aggregator/journal",
    "simulator",
    "common/files",
    "common/ledger",
    "common/queue",
    "common/telemetry",
    "common/tls",
    "common/types",
];

/// A source file of the product, without its tests and comments.
pub struct Source {
    /// Path from the root of the workspace.
    pub name: String,
    /// Its code.
    pub code: String,
}

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every `.rs` file below a folder.
pub fn files_under(folder: &Path) -> Vec<PathBuf> {
    files_with(folder, "rs")
}

/// Every `.rs` file of the workspace, with its tests and benchmarks.
pub fn all_rust_files() -> Vec<PathBuf> {
    let folders = CRATES.iter().filter(|folder| !folder.contains('/'));
    let all = folders.chain(&["common", "tests", "benches"]);
    all.flat_map(|folder| files_under(&root().join(folder))).collect()
}

/// Every file below a folder with this extension.
pub fn files_with(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The folder with the sources of a crate.
pub fn source_folder(folder: &str) -> PathBuf {
    if folder == "cli" { root().join("cli") } else { root().join(folder).join("src") }
}

/// The product's source files in these crates.
pub fn sources(crates: &[&str]) -> Vec<Source> {
    let files = crates.iter().flat_map(|folder| files_under(&source_folder(folder)));
    let read = |path: PathBuf| {
        let name = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let is_code = |line: &&str| !line.trim_start().starts_with("//");
        let code = code.lines().filter(is_code).collect::<Vec<_>>().join("\n");
        Source { name, code }
    };
    let is_product = |source: &Source| {
        let name = &source.name;
        let for_tests = ["/tests/", "conformance", "/test_", "differential", "full_disk"];
        !name.ends_with("tests.rs") && !for_tests.iter().any(|part| name.contains(part))
    };
    files.map(read).filter(is_product).collect()
}

/// The names of a manifest's dependencies.
pub fn dependencies(folder: &str) -> BTreeSet<String> {
    let manifest = if folder == "cli" { root().to_owned() } else { root().join(folder) };
    let text = fs::read_to_string(manifest.join("Cargo.toml")).unwrap();
    let table: toml::Table = toml::from_str(&text).unwrap();
    match table.get("dependencies") {
        Some(dependencies) => dependencies.as_table().unwrap().keys().cloned().collect(),
        None => BTreeSet::new(),
    }
}
