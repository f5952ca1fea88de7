//! Folders of the datasets that requests may name.

use crate::{error::AppError, run_request::RequestField};
use juror_files::data_roots::Roots;
use juror_producer::dataset::{Dataset, DatasetShape};
use juror_types::rubric::builtin;
use std::{
    collections::{BTreeSet, VecDeque},
    ffi::OsStr,
    fs::{self, DirEntry},
    path::{Component, Path, PathBuf},
};

/// Maximum number of listed datasets.
const MAX_LISTED: usize = 300;
/// Maximum number of files and folders that are searched, those of higher folders first.
const MAX_SEARCHED: usize = 500_000;
/// Maximum depth of the search, in folders.
const MAX_DEPTH: usize = 4;

/// The folders whose datasets may be judged.
pub struct DatasetRoots {
    folders: Vec<PathBuf>,
}

impl DatasetRoots {
    /// Roots of which the first ones take precedence.
    pub fn new(folders: Vec<PathBuf>) -> Self {
        Self { folders }
    }

    /// The real path of a dataset, named relative to one of the folders.
    pub fn resolve(&self, name: &str) -> Result<PathBuf, AppError> {
        if self.folders.is_empty() {
            return Err(AppError::for_field(
                RequestField::Dataset,
                "this server has no folder of datasets: start it with --data-root DIR, or set \
                 files.data_roots",
            ));
        }
        let plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        if name.is_empty() || name.contains('\0') || !Path::new(name).components().all(plain) {
            let message = format!(
                "{name:?} is not a dataset's path: give it relative to one of the server's data \
                 roots, without a leading / and without .."
            );
            return Err(AppError::for_field(RequestField::Dataset, message));
        }
        // A link that leads outside is treated as a missing file.
        let found = Roots::new(self.folders.clone()).resolve(name).ok();
        found.filter(|path| path.is_file() || path.is_dir()).ok_or_else(|| {
            AppError::not_found(format!("there is no dataset {name:?} in the server's data roots"))
        })
    }

    /// Names of manifests and folders that look like datasets, in order. Links are not followed.
    /// Reads folders and so blocks.
    pub fn list(&self) -> Vec<String> {
        let rubrics = builtin().iter().filter_map(|rubric| rubric.parse().ok());
        let shapes = rubrics.map(|rubric| DatasetShape::for_rubric(&rubric)).collect();
        let to_search = self.folders.iter().map(|folder| (folder.clone(), PathBuf::new(), 0));
        let mut search =
            Search { found: BTreeSet::new(), seen: 0, to_search: to_search.collect(), shapes };
        while let Some((folder, below, depth)) = search.to_search.pop_front() {
            search.read(&folder, &below, depth);
        }
        search.found.into_iter().take(MAX_LISTED).collect()
    }
}

struct Search {
    found: BTreeSet<String>,
    seen: usize,
    /// Folders, each with its path relative to the root and its depth; higher folders come first.
    to_search: VecDeque<(PathBuf, PathBuf, usize)>,
    shapes: Vec<DatasetShape>,
}

impl Search {
    /// Reads a folder, and adds those in it to the search.
    fn read(&mut self, folder: &Path, below: &Path, depth: usize) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        let mut entries: Vec<DirEntry> =
            entries.flatten().take(MAX_SEARCHED.saturating_sub(self.seen)).collect();
        self.seen += entries.len();
        entries.sort_by_key(DirEntry::file_name);
        let names: BTreeSet<_> = entries.iter().map(DirEntry::file_name).collect();
        // A run directory is not a dataset.
        if names.contains(OsStr::new("run.json")) {
            return;
        }
        if has_pairs(&names) {
            let name = if below == Path::new("") { Path::new(".") } else { below };
            self.found.extend(name.to_str().map(str::to_owned));
        }
        for entry in entries {
            let name = entry.file_name();
            let Ok(kind) = entry.file_type() else { continue };
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let below = below.join(&name);
            if kind.is_dir() && depth < MAX_DEPTH {
                self.to_search.push_back((entry.path(), below, depth + 1));
            } else if kind.is_file() && is_manifest(&below) && self.is_dataset(&entry.path()) {
                self.found.extend(below.to_str().map(str::to_owned));
            }
        }
    }

    /// True if the first item is valid for some rubric. Later items are not checked here: an
    /// estimate reports invalid lines.
    fn is_dataset(&self, manifest: &Path) -> bool {
        let reads_first = |shape: &DatasetShape| {
            let items = Dataset::open(manifest, shape).and_then(|dataset| dataset.items());
            items.is_ok_and(|mut items| items.next().is_some_and(|first| first.is_ok()))
        };
        self.shapes.iter().any(reads_first)
    }
}

fn is_manifest(path: &Path) -> bool {
    let ending = path.extension().and_then(OsStr::to_str);
    ending.is_some_and(|ending| ["jsonl", "csv"].contains(&ending.to_ascii_lowercase().as_str()))
}

/// True if an image and code have the same name.
fn has_pairs(names: &BTreeSet<std::ffi::OsString>) -> bool {
    names.iter().map(Path::new).any(|image| {
        let is_image = image.extension() == Some(OsStr::new("png"));
        let code = |ending: &str| names.contains(image.with_extension(ending).as_os_str());
        is_image && ["tsx", "jsx", "html"].into_iter().any(code)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixture() -> (tempfile::TempDir, DatasetRoots) {
        let fixture = tempfile::tempdir().unwrap();
        let path = |name: &str| fixture.path().join(name);
        for folder in ["one/sub", "one/.hidden", "one/runs/r1", "two/pairs", "outside"] {
            fs::create_dir_all(path(folder)).unwrap();
        }
        for file in [
            "one/a.jsonl",
            "one/sub/b.csv",
            "one/sub/notes.txt",
            "one/.hidden/c.jsonl",
            "one/runs/r1/run.json",
            "one/runs/r1/results.jsonl",
            "two/a.jsonl",
            "two/pairs/x.png",
            "two/pairs/x.tsx",
            "outside/secret.jsonl",
        ] {
            let item = match file.rsplit_once('.') {
                Some((_, "csv")) => "id,original,restyled,style\na,a.png,b.png,Ukiyo-e\n",
                _ => "{\"id\":\"a\",\"screenshot\":\"a.png\"}\n",
            };
            fs::write(path(file), item).unwrap();
        }
        for (file, text) in [
            ("one/verdicts.jsonl", "{\"id\":\"a\",\"reply\":{}}\n"),
            ("one/table.csv", "name,count\na,1\n"),
            ("one/empty.jsonl", ""),
        ] {
            fs::write(path(file), text).unwrap();
        }
        let roots = DatasetRoots::new(vec![path("one"), path("two")]);
        (fixture, roots)
    }

    #[test]
    fn readable_datasets_are_listed_and_journals_are_not() {
        let (_fixture, roots) = fixture();
        assert_eq!(roots.list(), ["a.jsonl", "pairs", "sub/b.csv"]);
        for name in roots.list() {
            assert!(roots.resolve(&name).is_ok(), "{name}");
        }
    }

    #[test]
    fn manifests_beside_a_large_folder_are_listed() {
        let (fixture, roots) = fixture();
        let large = fixture.path().join("one/a_large_one");
        fs::create_dir(&large).unwrap();
        for number in 0..25_000 {
            fs::write(large.join(format!("{number}.txt")), "").unwrap();
        }
        assert_eq!(roots.list(), ["a.jsonl", "pairs", "sub/b.csv"]);
    }

    #[test]
    fn first_folder_with_the_name_wins() {
        let (fixture, roots) = fixture();
        let first = fixture.path().join("one/a.jsonl").canonicalize().unwrap();
        assert_eq!(roots.resolve("a.jsonl").unwrap(), first);
    }

    #[test]
    fn paths_outside_the_folders_are_refused() {
        let (fixture, roots) = fixture();
        let secret = fixture.path().join("outside/secret.jsonl");
        std::os::unix::fs::symlink(&secret, fixture.path().join("one/link.jsonl")).unwrap();
        std::os::unix::fs::symlink(fixture.path().join("outside"), fixture.path().join("one/way"))
            .unwrap();
        for name in ["", "a\0b", "../outside/secret.jsonl", "sub/../../outside/secret.jsonl"] {
            assert!(matches!(roots.resolve(name), Err(AppError::Field { .. })), "{name:?}");
        }
        let absolute = fixture.path().join("one/a.jsonl");
        for path in [absolute.as_path(), &secret, Path::new("/etc/passwd")] {
            let refused = roots.resolve(path.to_str().unwrap());
            assert!(matches!(refused, Err(AppError::Field { .. })), "{}", path.display());
        }
        for name in ["link.jsonl", "way/secret.jsonl", "none.jsonl"] {
            assert!(matches!(roots.resolve(name), Err(AppError::NotFound(_))), "{name}");
        }
        assert!(!roots.list().iter().any(|name| name.contains("secret") || name.contains("link")));
    }

    #[test]
    fn no_dataset_is_available_without_folders() {
        let refused = DatasetRoots::new(Vec::new()).resolve("a.jsonl").unwrap_err();
        assert!(refused.to_string().contains("--data-root"), "{refused}");
    }
}
