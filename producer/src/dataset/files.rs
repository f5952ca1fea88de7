//! Which files a dataset's items may name, and whether they are there.

use super::error::{DatasetError, Problem};
use super::record::unreadable;
use std::path::{Component, Path, PathBuf};

/// The folders that references are resolved in.
#[derive(Clone, Debug)]
pub(super) struct Files {
    folder: PathBuf,
    roots: Vec<PathBuf>,
}

impl Files {
    /// The manifest's folder, and the data roots beside it.
    pub(super) fn new(folder: &Path, roots: &[PathBuf]) -> Result<Self, DatasetError> {
        let real = |path: &Path| path.canonicalize().map_err(|error| unreadable(path, error));
        let roots = roots.iter().map(|root| real(root)).collect::<Result<_, _>>()?;
        Ok(Self { folder: real(folder)?, roots })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether a reference to one of these (images, files) is one that this version may follow.
    /// Does not look for the file.
    pub(super) fn allow(&self, reference: &str, what: &'static str) -> Result<(), Problem> {
        if let Some(scheme) = scheme_of(reference) {
            let remote =
                ["http", "https", "s3"].iter().any(|name| scheme.eq_ignore_ascii_case(name));
            let reference = reference.chars().take(200).collect();
            return Err(match remote {
                true => Problem::Remote { what, reference },
                false => Problem::NotAPath(reference),
            });
        }
        if reference.chars().any(char::is_control) {
            return Err(Problem::NotAPath(reference.chars().take(200).collect()));
        }
        let path = Path::new(reference);
        let leaves =
            path.is_absolute() || path.components().any(|part| part == Component::ParentDir);
        if leaves && !self.lies_under_a_root(path) {
            return Err(Problem::Outside(reference.to_owned()));
        }
        Ok(())
    }

    /// Whether a file is there, in the manifest's folder or under a data root. Does not open it.
    /// The hint is added to the message where it is not.
    pub(super) fn find(&self, reference: &str, hint: &'static str) -> Result<(), Problem> {
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

    fn lies_under_a_root(&self, path: &Path) -> bool {
        let joined = self.folder.join(path);
        let resolved = joined.canonicalize().unwrap_or_else(|_| without_parents(&joined));
        self.roots.iter().any(|root| resolved.starts_with(root))
    }
}

/// The scheme of a URL: letters before `://`, or `data` before `:`.
fn scheme_of(reference: &str) -> Option<&str> {
    let (scheme, rest) = reference.split_once(':')?;
    let letters = !scheme.is_empty()
        && scheme
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || "+-.".contains(character));
    (letters && (rest.starts_with("//") || scheme.eq_ignore_ascii_case("data"))).then_some(scheme)
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

    #[test]
    fn references_stay_in_the_folder_or_under_a_root() {
        let home = tempfile::tempdir().unwrap();
        let (folder, root) = (home.path().join("set"), home.path().join("shots"));
        for path in [&folder, &root] {
            std::fs::create_dir(path).unwrap();
        }
        std::fs::write(root.join("1.png"), "").unwrap();
        let files = Files::new(&folder, &[]).unwrap();
        let absolute = root.join("1.png").to_str().unwrap().to_owned();
        for outside in ["../shots/1.png", "a/../b.png", "/etc/passwd", &absolute] {
            assert_eq!(files.allow(outside, "images"), Err(Problem::Outside(outside.into())));
        }
        let files = Files::new(&folder, std::slice::from_ref(&root)).unwrap();
        for inside in ["a/b.png", "1.png", "./1.png", "../shots/1.png", &absolute] {
            assert_eq!(files.allow(inside, "images"), Ok(()), "{inside}");
        }
        for found in ["1.png", "../shots/1.png", &absolute] {
            assert_eq!(files.find(found, ""), Ok(()), "{found}");
        }
        for outside in ["../shots/../set/2.png", "/etc/passwd", "../shots/missing/../../x.png"] {
            assert_eq!(files.allow(outside, "images"), Err(Problem::Outside(outside.into())));
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
        let files = Files::new(home.path(), std::slice::from_ref(&root)).unwrap();
        let link = root.join("1.png").to_str().unwrap().to_owned();
        assert_eq!(files.allow(&link, "images"), Err(Problem::Outside(link.clone())));
    }

    #[test]
    fn urls_are_told_from_paths() {
        let home = tempfile::tempdir().unwrap();
        let files = Files::new(home.path(), &[]).unwrap();
        for remote in ["https://example.com/1.png", "HTTP://x/1.png", "s3://bucket/1.png"] {
            assert_eq!(
                files.allow(remote, "images"),
                Err(Problem::Remote { what: "images", reference: remote.into() })
            );
        }
        for other in ["data:image/png;base64,AAAA", "file:///etc/passwd", "ftp://x/1.png", "a\0b"] {
            assert_eq!(files.allow(other, "images"), Err(Problem::NotAPath(other.into())));
        }
        assert_eq!(files.allow("state:hover.png", "images"), Ok(()));
    }

    #[test]
    fn a_root_that_is_not_there_is_named() {
        let home = tempfile::tempdir().unwrap();
        let error = Files::new(home.path(), &[home.path().join("none")]).unwrap_err();
        assert!(matches!(error, DatasetError::NotFound(path) if path.ends_with("none")));
    }
}
