//! Checks of an item's files by the worker's rules: they are allowed and exist.

use super::error::{DatasetError, DatasetProblem};
use crate::dataset::raw::unreadable;
use juror_files::{
    data_roots::{Roots, is_absence},
    fetch_policy::{FetchPolicy, NotAllowed},
};
use juror_types::{
    byte_order_mark::without_byte_order_mark, file_identity::FileIdentity, reference::Reference,
};
use parking_lot::Mutex;
use std::{
    collections::HashMap,
    io,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

/// Maximum number of cached folders; above it, all are dropped.
const MAX_KNOWN_FOLDERS: usize = 10_000;

/// Rules for the targets of references.
#[derive(Clone, Debug)]
pub(super) struct Files {
    folder: PathBuf,
    roots: Vec<PathBuf>,
    /// The same folders, for reading as the worker does.
    readable: Roots,
    allowed: FetchPolicy,
    /// Files that no item may name.
    outputs: Vec<FileIdentity>,
    /// Checked folders, with their links resolved.
    known_folders: Arc<Mutex<HashMap<PathBuf, PathBuf>>>,
}

impl Files {
    /// The manifest's folder, the data roots, and the allowed hosts and buckets. No item may name
    /// one of `outputs`.
    pub(super) fn new(
        folder: &Path,
        roots: &[PathBuf],
        allowed: FetchPolicy,
        outputs: Vec<FileIdentity>,
    ) -> Result<Self, DatasetError> {
        let real = |path: &Path| path.canonicalize().map_err(|error| unreadable(path, error));
        let roots: Vec<PathBuf> = roots.iter().map(|root| real(root)).collect::<Result<_, _>>()?;
        let folder = real(folder)?;
        let readable = Roots::new([std::slice::from_ref(&folder), &roots].concat());
        let known_folders = Arc::default();
        Ok(Self { folder, roots, readable, allowed, outputs, known_folders })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Checks that a reference is allowed, without looking for the file.
    pub(super) fn allow(&self, reference: &str) -> Result<(), DatasetProblem> {
        let Reference::Path(reference) = Reference::parse(reference)? else { return Ok(()) };
        let path = Path::new(reference);
        if path.components().any(|part| part == Component::ParentDir) {
            return Err(DatasetProblem::ParentFolder(reference.to_owned()));
        }
        if path.is_absolute() && !self.folders().any(|folder| lies_under(path, folder)) {
            return Err(DatasetProblem::Outside(reference.to_owned()));
        }
        Ok(())
    }

    /// The reason why this process may not read a reference's target; `None` for paths. The job may
    /// be judged by another process with other settings.
    pub(super) fn not_allowed(&self, reference: &str) -> Option<NotAllowed> {
        self.allowed.check(&Reference::parse(reference).ok()?).err()
    }

    /// Checks that a file exists which the worker would open: in the manifest's folder or under a
    /// data root, following links. Does not open it. The hint is added to the message of a missing
    /// file. Remote files are not checked.
    pub(super) fn find(&self, reference: &str, hint: &'static str) -> Result<(), DatasetProblem> {
        if !Reference::is_path(reference) {
            return Ok(());
        }
        let mut problem = DatasetProblem::NoFile(reference.to_owned(), hint);
        // The first folder with an entry of this name decides, as in the worker.
        for folder in self.folders() {
            match self.look(folder, reference) {
                Found::File(identity) => {
                    return match identity.filter(|identity| self.outputs.contains(identity)) {
                        Some(_) => Err(DatasetProblem::IsOutput(reference.to_owned())),
                        None => Ok(()),
                    };
                }
                Found::NoFile => return Err(DatasetProblem::NotAFile(reference.to_owned())),
                Found::Outside => problem = DatasetProblem::Outside(reference.to_owned()),
                Found::Unreadable(error) => {
                    return Err(DatasetProblem::UnreadableFile(
                        reference.to_owned(),
                        error.to_string(),
                    ));
                }
                Found::Nothing => {}
            }
        }
        Err(problem)
    }

    /// One `lstat` for a file in a known folder.
    fn look(&self, root: &Path, reference: &str) -> Found {
        let named = root.join(reference);
        let looked = named.symlink_metadata().and_then(|metadata| match metadata.is_symlink() {
            false => Ok((self.folder_lies_under(&named, root), metadata)),
            true => Ok((lies_under(&named, root), named.metadata()?)),
        });
        match looked {
            Err(error) if is_absence(&error) => Found::Nothing,
            Err(error) => Found::Unreadable(error),
            Ok((_, metadata)) if !metadata.is_file() => Found::NoFile,
            Ok((false, _)) => Found::Outside,
            Ok((true, _)) if self.outputs.is_empty() => Found::File(None),
            Ok((true, metadata)) => Found::File(Some(FileIdentity::with_metadata(&metadata))),
        }
    }

    fn folder_lies_under(&self, named: &Path, root: &Path) -> bool {
        let Some(folder) = named.parent().filter(|folder| *folder != root) else { return true };
        let mut known = self.known_folders.lock();
        if let Some(resolved) = known.get(folder) {
            return resolved.starts_with(root);
        }
        if known.len() >= MAX_KNOWN_FOLDERS {
            known.clear();
        }
        let resolved = resolved(folder);
        let lies_under = resolved.starts_with(root);
        known.insert(folder.to_owned(), resolved);
        lies_under
    }

    fn folders(&self) -> impl Iterator<Item = &PathBuf> {
        std::iter::once(&self.folder).chain(&self.roots)
    }

    /// The text of a file, without a byte order mark; `None` if it is larger, not UTF-8, or outside
    /// the manifest's folder and the data roots, following links.
    pub(super) fn read_text(&self, reference: &str, max_bytes: u64) -> Option<String> {
        let content = self.readable.read_now(reference, max_bytes).ok()?;
        Some(str::from_utf8(without_byte_order_mark(&content)).ok()?.to_owned())
    }
}

/// Result of a lookup of a path under one root.
enum Found {
    Nothing,
    File(Option<FileIdentity>),
    NoFile,
    Outside,
    Unreadable(io::Error),
}

/// True if a path resolves to a place under a folder.
fn lies_under(path: &Path, folder: &Path) -> bool {
    resolved(path).starts_with(folder)
}

/// A path with its links resolved; one that does not exist is used as written.
fn resolved(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(folder: &Path, roots: &[PathBuf]) -> Result<Files, DatasetError> {
        Files::new(folder, roots, FetchPolicy::default(), Vec::new())
    }

    #[test]
    fn references_stay_in_the_folder_or_under_a_root() {
        let home = tempfile::tempdir().unwrap();
        let (folder, root) = (home.path().join("set"), home.path().join("shots"));
        for path in [&folder, &root.join("deep")] {
            std::fs::create_dir_all(path).unwrap();
        }
        let deep = root.join("deep/4.png").to_str().unwrap().to_owned();
        for file in [&root.join("1.png"), Path::new(&deep)] {
            std::fs::write(file, "").unwrap();
        }
        let absolute = root.join("1.png").to_str().unwrap().to_owned();
        let own = folder.join("2.png").to_str().unwrap().to_owned();
        std::fs::write(&own, "").unwrap();
        let files = open(&folder, &[]).unwrap();
        for outside in ["/etc/passwd", &absolute] {
            assert_eq!(files.allow(outside), Err(DatasetProblem::Outside(outside.into())));
        }
        let rooted = open(&folder, std::slice::from_ref(&root)).unwrap();
        for inside in ["a/b.png", "1.png", "./1.png", &absolute, &own] {
            assert_eq!(rooted.allow(inside), Ok(()), "{inside}");
        }
        for found in ["1.png", "./1.png", "2.png", "deep/4.png", &absolute, &own, &deep] {
            assert_eq!(rooted.find(found, ""), Ok(()), "{found}");
        }
        // The worker follows no `..`, wherever it leads.
        for parent in ["../shots/1.png", "a/../b.png", "../set/2.png"] {
            for files in [&files, &rooted] {
                assert_eq!(files.allow(parent), Err(DatasetProblem::ParentFolder(parent.into())));
            }
        }
        assert!(matches!(rooted.find("3.png", ""), Err(DatasetProblem::NoFile(..))));
        assert!(matches!(rooted.find("2.png/3.png", ""), Err(DatasetProblem::NoFile(..))));
        assert!(matches!(rooted.find(".", ""), Err(DatasetProblem::NotAFile(_))));
    }

    #[test]
    fn output_file_of_the_command_is_no_item() {
        let home = tempfile::tempdir().unwrap();
        let path = |name: &str| home.path().join(name);
        std::fs::write(path("a.html"), "<p>").unwrap();
        std::fs::hard_link(path("a.html"), path("b.html")).unwrap();
        std::fs::write(path("c.html"), "<p>").unwrap();
        let outputs = FileIdentity::from_path(&path("a.html")).into_iter().collect();
        let files = Files::new(home.path(), &[], FetchPolicy::default(), outputs).unwrap();
        for output in ["a.html", "./a.html", "b.html"] {
            assert_eq!(files.find(output, ""), Err(DatasetProblem::IsOutput(output.into())));
        }
        assert_eq!(files.find("c.html", ""), Ok(()));
    }

    #[test]
    fn link_out_of_a_root_is_outside_of_it() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("root");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(home.path().join("secret.png"), "").unwrap();
        std::os::unix::fs::symlink(home.path().join("secret.png"), root.join("1.png")).unwrap();
        let folder = home.path().join("set");
        std::fs::create_dir(&folder).unwrap();
        let files = open(&folder, std::slice::from_ref(&root)).unwrap();
        let link = root.join("1.png").to_str().unwrap().to_owned();
        assert_eq!(files.allow(&link), Err(DatasetProblem::Outside(link.clone())));
    }

    #[test]
    fn link_out_of_the_folder_is_refused_as_in_the_worker() {
        let home = tempfile::tempdir().unwrap();
        let path = |name: &str| home.path().join(name);
        for folder in ["set/shots", "elsewhere"] {
            std::fs::create_dir_all(path(folder)).unwrap();
        }
        for file in ["set/shots/1.png", "elsewhere/1.png"] {
            std::fs::write(path(file), "").unwrap();
        }
        let link = std::os::unix::fs::symlink::<PathBuf, PathBuf>;
        link(path("elsewhere"), path("set/out")).unwrap();
        link(path("elsewhere/1.png"), path("set/2.png")).unwrap();
        link(path("set/shots"), path("set/inside")).unwrap();
        link(path("nothing"), path("set/3.png")).unwrap();
        let files = open(&path("set"), &[]).unwrap();
        for outside in ["out/1.png", "2.png"] {
            assert_eq!(files.find(outside, ""), Err(DatasetProblem::Outside(outside.into())));
        }
        assert_eq!(files.find("inside/1.png", ""), Ok(()));
        assert!(matches!(files.find("3.png", ""), Err(DatasetProblem::NoFile(..))));
        let files = open(&path("set"), &[path("elsewhere")]).unwrap();
        assert_eq!(files.find("1.png", ""), Ok(()));
        assert_eq!(files.find("2.png", ""), Err(DatasetProblem::Outside("2.png".into())));
    }

    #[test]
    fn remote_references_are_not_checked() {
        let home = tempfile::tempdir().unwrap();
        let hosts = ["example.com".to_owned()];
        let allowed = FetchPolicy::parse(&hosts, &[], &[]).unwrap();
        let files = Files::new(home.path(), &[], allowed, Vec::new()).unwrap();
        for remote in ["https://example.com/1.png", "HTTP://x/1.png", "s3://bucket/1.png"] {
            assert_eq!(files.allow(remote), Ok(()), "{remote}");
            assert_eq!(files.find(remote, ""), Ok(()), "{remote}");
            assert_eq!(files.not_allowed(remote).is_none(), remote.contains("example.com"));
        }
        for other in [
            "data:image/png;base64,AAAA",
            "file:///etc/passwd",
            "ftp://x/1.png",
            "https://user:secret@example.com/1.png",
            "s3://bucket/../1.png",
            "a\0b",
        ] {
            let refused = files.allow(other);
            assert!(matches!(refused, Err(DatasetProblem::Reference(_))), "{other}: {refused:?}");
        }
        assert_eq!(files.allow("state:hover.png"), Ok(()));
        assert_eq!(files.not_allowed("1.png"), None);
    }

    #[test]
    fn missing_root_is_reported() {
        let home = tempfile::tempdir().unwrap();
        let error = open(home.path(), &[home.path().join("none")]).unwrap_err();
        assert!(matches!(error, DatasetError::NotFound(path) if path.ends_with("none")));
    }
}
