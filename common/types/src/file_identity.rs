//! Identity of files: two paths are one file if they resolve to it through links, `.` and `..`.

use std::{fs::Metadata, path::Path};

/// Identity of an existing file, independent of its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileIdentity(Key);

#[cfg(unix)]
type Key = (u64, u64);
#[cfg(not(unix))]
type Key = std::path::PathBuf;

impl FileIdentity {
    /// The file at a path, following links; none if there is none.
    pub fn from_path(path: &Path) -> Option<Self> {
        Self::with_metadata(path, &path.metadata().ok()?)
    }

    /// As [`FileIdentity::from_path`], with known metadata of the path.
    pub fn with_metadata(path: &Path, metadata: &Metadata) -> Option<Self> {
        key(path, metadata).map(Self)
    }
}

#[cfg(unix)]
fn key(_path: &Path, metadata: &Metadata) -> Option<Key> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn key(path: &Path, _metadata: &Metadata) -> Option<Key> {
    path.canonicalize().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn every_way_to_a_file_has_one_identity() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("sub")).unwrap();
        fs::write(path("a.json"), "a").unwrap();
        fs::write(path("b.json"), "a").unwrap();
        fs::hard_link(path("a.json"), path("hard.json")).unwrap();
        let same = ["./a.json", "sub/../a.json", "hard.json"];
        for name in same {
            assert_eq!(
                FileIdentity::from_path(&path(name)),
                FileIdentity::from_path(&path("a.json")),
                "{name}"
            );
        }
        assert_ne!(
            FileIdentity::from_path(&path("b.json")),
            FileIdentity::from_path(&path("a.json"))
        );
        assert_eq!(FileIdentity::from_path(&path("none.json")), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_symbolic_link_is_the_file_that_it_leads_to() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("a"), folder.path().join("link"));
        fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(FileIdentity::from_path(&link), FileIdentity::from_path(&file));
    }
}
