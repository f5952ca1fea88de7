//! Which files a dataset's items may name, and whether they are there.

use super::error::{DatasetError, Problem};
use super::record::unreadable;
use juror_common::{
    allowed::{Allowed, NotAllowed},
    reference::Reference,
};
use std::{
    fs::File,
    io::Read as _,
    path::{Component, Path, PathBuf},
};

/// Where references may lead.
#[derive(Clone, Debug)]
pub(super) struct Files {
    folder: PathBuf,
    roots: Vec<PathBuf>,
    allowed: Allowed,
}

impl Files {
    /// The manifest's folder, the data roots beside it, and these hosts and buckets.
    pub(super) fn new(
        folder: &Path,
        roots: &[PathBuf],
        allowed: Allowed,
    ) -> Result<Self, DatasetError> {
        let real = |path: &Path| path.canonicalize().map_err(|error| unreadable(path, error));
        let roots = roots.iter().map(|root| real(root)).collect::<Result<_, _>>()?;
        Ok(Self { folder: real(folder)?, roots, allowed })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether a reference is one that may be followed. Does not look for the file.
    pub(super) fn allow(&self, reference: &str) -> Result<(), Problem> {
        let Reference::Path(reference) = Reference::parse(reference)? else { return Ok(()) };
        let path = Path::new(reference);
        let leaves =
            path.is_absolute() || path.components().any(|part| part == Component::ParentDir);
        if leaves && !self.lies_under_a_root(path) {
            return Err(Problem::Outside(reference.to_owned()));
        }
        Ok(())
    }

    /// Why this process may not read what a reference leads to; paths aside. Whoever judges the item
    /// may be another process with other settings.
    pub(super) fn not_allowed(&self, reference: &str) -> Option<NotAllowed> {
        self.allowed.check(&Reference::parse(reference).ok()?).err()
    }

    /// Whether a file is there, in the manifest's folder or under a data root. Does not open it.
    /// The hint is added to the message where it is not. Nobody else's machine is asked.
    pub(super) fn find(&self, reference: &str, hint: &'static str) -> Result<(), Problem> {
        if !Reference::is_path(reference) {
            return Ok(());
        }
        let mut found = false;
        for folder in std::iter::once(&self.folder).chain(&self.roots) {
            match std::fs::metadata(folder.join(reference)) {
                Ok(metadata) if metadata.is_file() => return Ok(()),
                Ok(_) => found = true,
                Err(_) => {}
            }
        }
        Err(match found {
            true => Problem::NotAFile(reference.to_owned()),
            false => Problem::NoFile(reference.to_owned(), hint),
        })
    }

    /// The text of a file, without a byte order mark; none if it is larger, is not UTF-8, or does
    /// not lie in the manifest's folder or under a data root, links followed.
    pub(super) fn read_text(&self, reference: &str, max_bytes: u64) -> Option<String> {
        let folders = || std::iter::once(&self.folder).chain(&self.roots);
        let path = folders().find_map(|folder| folder.join(reference).canonicalize().ok())?;
        if !folders().any(|folder| path.starts_with(folder)) || !path.is_file() {
            return None;
        }
        let mut text = String::new();
        let mut file = File::open(path).ok()?.take(max_bytes.saturating_add(1));
        file.read_to_string(&mut text).ok()?;
        let plain = text.strip_prefix('\u{feff}').map(str::to_owned);
        (text.len() as u64 <= max_bytes).then(|| plain.unwrap_or(text))
    }

    fn lies_under_a_root(&self, path: &Path) -> bool {
        let joined = self.folder.join(path);
        let resolved = joined.canonicalize().unwrap_or_else(|_| without_parents(&joined));
        self.roots.iter().any(|root| resolved.starts_with(root))
    }
}

/// Takes `..` for the folder above, for paths that do not exist.
fn without_parents(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(folder: &Path, roots: &[PathBuf]) -> Result<Files, DatasetError> {
        Files::new(folder, roots, Allowed::default())
    }

    #[test]
    fn references_stay_in_the_folder_or_under_a_root() {
        let home = tempfile::tempdir().unwrap();
        let (folder, root) = (home.path().join("set"), home.path().join("shots"));
        for path in [&folder, &root] {
            std::fs::create_dir(path).unwrap();
        }
        std::fs::write(root.join("1.png"), "").unwrap();
        let files = open(&folder, &[]).unwrap();
        let absolute = root.join("1.png").to_str().unwrap().to_owned();
        for outside in ["../shots/1.png", "a/../b.png", "/etc/passwd", &absolute] {
            assert_eq!(files.allow(outside), Err(Problem::Outside(outside.into())));
        }
        let files = open(&folder, std::slice::from_ref(&root)).unwrap();
        for inside in ["a/b.png", "1.png", "./1.png", "../shots/1.png", &absolute] {
            assert_eq!(files.allow(inside), Ok(()), "{inside}");
        }
        for found in ["1.png", "../shots/1.png", &absolute] {
            assert_eq!(files.find(found, ""), Ok(()), "{found}");
        }
        for outside in ["../shots/../set/2.png", "/etc/passwd", "../shots/missing/../../x.png"] {
            assert_eq!(files.allow(outside), Err(Problem::Outside(outside.into())));
        }
        assert!(matches!(files.find("2.png", ""), Err(Problem::NoFile(..))));
        assert!(matches!(files.find(".", ""), Err(Problem::NotAFile(_))));
    }

    #[test]
    #[cfg(unix)]
    fn a_link_out_of_a_root_does_not_lie_under_it() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("root");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(home.path().join("secret.png"), "").unwrap();
        std::os::unix::fs::symlink(home.path().join("secret.png"), root.join("1.png")).unwrap();
        let files = open(home.path(), std::slice::from_ref(&root)).unwrap();
        let link = root.join("1.png").to_str().unwrap().to_owned();
        assert_eq!(files.allow(&link), Err(Problem::Outside(link.clone())));
    }

    #[test]
    fn what_is_elsewhere_is_not_looked_for() {
        let home = tempfile::tempdir().unwrap();
        let hosts = ["example.com".to_owned()];
        let allowed = Allowed::parse(&hosts, &[], &[]).unwrap();
        let files = Files::new(home.path(), &[], allowed).unwrap();
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
            assert!(matches!(refused, Err(Problem::Reference(_))), "{other}: {refused:?}");
        }
        assert_eq!(files.allow("state:hover.png"), Ok(()));
        assert_eq!(files.not_allowed("1.png"), None);
    }

    #[test]
    fn a_root_that_is_not_there_is_named() {
        let home = tempfile::tempdir().unwrap();
        let error = open(home.path(), &[home.path().join("none")]).unwrap_err();
        assert!(matches!(error, DatasetError::NotFound(path) if path.ends_with("none")));
    }
}
