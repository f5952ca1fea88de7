//! Identity of files: two paths are one file if they resolve to it through links, `.` and `..`.

use std::{fs::Metadata, os::unix::fs::MetadataExt as _, path::Path, time::SystemTime};

/// Identity of an existing file, independent of its path: the numbers of its device and inode, and
/// where it is known the time of its creation, since a removed file's number is used again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileIdentity(u64, u64, Option<SystemTime>);

impl FileIdentity {
    /// The file at a path, following links; `None` if there is none.
    pub fn from_path(path: &Path) -> Option<Self> {
        path.metadata().ok().map(|metadata| Self::with_metadata(&metadata))
    }

    /// The file with this metadata.
    pub fn with_metadata(metadata: &Metadata) -> Self {
        Self(metadata.dev(), metadata.ino(), metadata.created().ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn paths_to_one_file_have_one_identity() {
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

    #[test]
    fn symbolic_link_has_the_identity_of_its_target() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("a"), folder.path().join("link"));
        fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(FileIdentity::from_path(&link), FileIdentity::from_path(&file));
    }
}
