//! Access to local files within allowed folders.

use bytes::Bytes;
use futures_util::future::BoxFuture;
use rustix::fs::OFlags;
use std::{
    fs::{File, OpenOptions},
    io::{self, Read},
    os::unix::fs::OpenOptionsExt as _,
    path::{Component, Path, PathBuf},
    sync::Arc,
};
use tokio::{sync::Semaphore, task::spawn_blocking};

/// Maximum number of concurrent reads: a few keep a disk busy, and each further one only costs a
/// thread.
const MAX_CONCURRENT_READS: usize = 8;

/// Maximum size of an image file in bytes.
pub const MAX_IMAGE_BYTES: u64 = 64 << 20;

/// Maximum size of a file with tokens in bytes.
pub const MAX_TEXT_BYTES: u64 = 1 << 20;

/// Maximum size of a file with generated code in bytes: a few kilobytes as a rule, some megabytes
/// with pictures as data URIs.
pub const MAX_CODE_BYTES: u64 = 4 << 20;

/// The folders in which files may be opened. Clones share them.
#[derive(Clone, Debug)]
pub struct Roots {
    folders: Arc<Vec<PathBuf>>,
    reads: Arc<Semaphore>,
}

/// The error of reading a file.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum FileError {
    /// The file is in no folder.
    #[error("{reference}: no such file in {folders}")]
    Missing {
        /// The item's reference.
        reference: String,
        /// The searched folders.
        folders: String,
    },
    /// Access is not allowed.
    #[error("{reference}: {reason}")]
    Refused {
        /// The item's reference.
        reference: String,
        reason: &'static str,
    },
    /// The file is too large.
    #[error("{reference}: larger than the allowed {limit} bytes")]
    TooLarge {
        /// The item's reference.
        reference: String,
        /// Maximum number of bytes.
        limit: u64,
    },
    /// The operating system reported an error.
    #[error("{reference}: cannot be read: {source}")]
    Unreadable {
        /// The item's reference.
        reference: String,
        /// Error of the operating system.
        source: io::Error,
    },
}

impl Roots {
    /// Roots in search order. A missing folder contains no files.
    pub fn new(folders: Vec<PathBuf>) -> Self {
        Self { folders: Arc::new(folders), reads: Arc::new(Semaphore::new(MAX_CONCURRENT_READS)) }
    }

    /// Reads a file of at most `max_bytes` bytes. The reference is a path relative to a root, or an
    /// absolute one below a root.
    pub fn read<'a>(
        &'a self,
        reference: &'a str,
        max_bytes: u64,
    ) -> BoxFuture<'a, Result<Bytes, FileError>> {
        Box::pin(async move {
            let interrupted = || FileError::Unreadable {
                reference: reference.to_owned(),
                source: io::ErrorKind::Interrupted.into(),
            };
            let reads = Arc::clone(&self.reads);
            let permit = reads.acquire_owned().await.map_err(|_| interrupted())?;
            let (roots, name) = (self.clone(), reference.to_owned());
            let reading = spawn_blocking(move || {
                let read = roots.read_now(&name, max_bytes);
                drop(permit);
                read
            });
            reading.await.map_err(|_| interrupted())?
        })
    }

    /// The error of a file that is unavailable here but may exist elsewhere: no root contains it,
    /// or this process may not read it.
    pub fn absence(&self, reference: &str) -> Option<FileError> {
        let unreadable = |source| FileError::Unreadable { reference: reference.to_owned(), source };
        let looked = self
            .resolve(reference)
            .and_then(|path| open_if_regular(&path, NOFOLLOW).map(drop).map_err(unreadable));
        let error = looked.err()?;
        matches!(error, FileError::Missing { .. } | FileError::Unreadable { .. }).then_some(error)
    }

    /// The canonical path of a file below a root.
    pub fn resolve(&self, reference: &str) -> Result<PathBuf, FileError> {
        let refused = |reason| FileError::Refused { reference: reference.to_owned(), reason };
        let path = Path::new(reference);
        if reference.is_empty() || reference.contains('\0') {
            return Err(refused("not a file name"));
        }
        if path.components().any(|component| component == Component::ParentDir) {
            return Err(refused("'..' is not allowed: use a path below the dataset's folder"));
        }
        let mut lies_outside = false;
        for folder in self.folders.iter() {
            let Ok(folder) = folder.canonicalize() else { continue };
            match folder.join(path).canonicalize() {
                Ok(file) if file.starts_with(&folder) => return Ok(file),
                Ok(_) => lies_outside = true,
                Err(error) if is_absence(&error) => {}
                Err(source) => {
                    return Err(FileError::Unreadable { reference: reference.to_owned(), source });
                }
            }
        }
        if lies_outside || path.is_absolute() {
            return Err(refused("it is outside the allowed folders (--data-root)"));
        }
        let folders: Vec<_> =
            self.folders.iter().map(|folder| folder.display().to_string()).collect();
        Err(FileError::Missing { reference: reference.to_owned(), folders: folders.join(", ") })
    }

    /// [`Roots::read`] on this thread.
    pub fn read_now(&self, reference: &str, max_bytes: u64) -> Result<Bytes, FileError> {
        let refused = |reason| FileError::Refused { reference: reference.to_owned(), reason };
        let unreadable = |source| FileError::Unreadable { reference: reference.to_owned(), source };
        let too_large =
            || FileError::TooLarge { reference: reference.to_owned(), limit: max_bytes };
        let path = self.resolve(reference)?;
        let opened = open_if_regular(&path, NOFOLLOW).map_err(unreadable)?;
        let (file, length) = opened.ok_or_else(|| refused(NOT_A_FILE))?;
        if length > max_bytes {
            return Err(too_large());
        }
        let mut content = Vec::with_capacity(usize::try_from(length).unwrap_or(0) + 1);
        // It may be growing.
        file.take(max_bytes.saturating_add(1)).read_to_end(&mut content).map_err(unreadable)?;
        if content.len() as u64 > max_bytes { Err(too_large()) } else { Ok(content.into()) }
    }
}

/// Opens a regular file of at most `max_bytes` bytes for reading, following links and without
/// blocking; anything else is an error.
pub fn open_regular(path: &Path, max_bytes: u64) -> io::Result<File> {
    let opened = open_if_regular(path, 0)?;
    let (file, length) =
        opened.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, NOT_A_FILE))?;
    if length > max_bytes {
        let reason = format!("larger than the allowed {max_bytes} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, reason));
    }
    Ok(file)
}

/// Reads a regular file, as [`open_regular`]; one that grows meanwhile, up to `max_bytes`.
pub fn read_regular(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path, max_bytes)?.take(max_bytes).read_to_end(&mut bytes)?;
    Ok(bytes)
}

const NOT_A_FILE: &str = "not a regular file";

/// Flag that refuses a link created after the path was resolved.
const NOFOLLOW: i32 = OFlags::NOFOLLOW.bits().cast_signed();

/// True for an error that means that there is no such file.
pub fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// A regular file and its length, opened for reading without blocking; `None` if it is not a
/// regular file. Opening some devices has effects, so the type is checked first, and again on the
/// open file, since the name may refer to another one by then.
fn open_if_regular(path: &Path, flags: i32) -> io::Result<Option<(File, u64)>> {
    if !path.metadata()?.is_file() {
        return Ok(None);
    }
    let flags = OFlags::NONBLOCK.bits().cast_signed() | flags;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    Ok(metadata.is_file().then_some((file, metadata.len())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn roots(folder: &Path) -> Roots {
        Roots::new(vec![folder.join("first"), folder.join("absent"), folder.join("second")])
    }

    fn tree() -> tempfile::TempDir {
        let tree = tempfile::tempdir().unwrap();
        for folder in ["first/sub", "second"] {
            fs::create_dir_all(tree.path().join(folder)).unwrap();
        }
        for (name, text) in
            [("first/sub/a.txt", "a1"), ("second/b.txt", "b2"), ("secret.txt", "no")]
        {
            fs::write(tree.path().join(name), text).unwrap();
        }
        tree
    }

    #[tokio::test]
    async fn files_are_found_in_every_root() {
        let tree = tree();
        let roots = roots(tree.path());
        assert_eq!(&roots.read("sub/a.txt", 2).await.unwrap()[..], b"a1");
        assert_eq!(&roots.read("./b.txt", 100).await.unwrap()[..], b"b2");
        let absolute = tree.path().join("second/b.txt");
        assert_eq!(&roots.read(absolute.to_str().unwrap(), 100).await.unwrap()[..], b"b2");
    }

    #[tokio::test]
    async fn paths_outside_the_roots_are_refused_with_the_reason() {
        let tree = tree();
        let path = |name: &str| tree.path().join(name);
        std::os::unix::fs::symlink(path("secret.txt"), path("first/link.txt")).unwrap();
        std::os::unix::fs::symlink(tree.path(), path("first/out")).unwrap();
        std::os::unix::fs::symlink("sub/a.txt", path("first/inside.txt")).unwrap();
        let status = std::process::Command::new("mkfifo").arg(path("first/pipe")).status().unwrap();
        assert!(status.success());
        let secret = path("secret.txt");
        let roots = roots(tree.path());
        for (reference, reason) in [
            ("/etc/passwd", "outside the allowed folders"),
            (secret.to_str().unwrap(), "outside the allowed folders"),
            ("../secret.txt", "'..' is not allowed"),
            ("sub/../../secret.txt", "'..' is not allowed"),
            ("link.txt", "outside the allowed folders"),
            ("out/secret.txt", "outside the allowed folders"),
            ("sub", "not a regular file"),
            ("pipe", "not a regular file"),
            ("", "not a file name"),
            ("a\0b", "not a file name"),
            ("none.txt", "no such file in"),
            ("sub/a.txt/deeper", "no such file in"),
            ("b.txt", "larger than the allowed 1 bytes"),
        ] {
            let error = roots.read(reference, 1).await.unwrap_err().to_string();
            assert!(error.contains(reason), "{reference}: {error}");
        }
        assert_eq!(&roots.read("inside.txt", 10).await.unwrap()[..], b"a1");
        assert!(matches!(roots.absence("none.txt"), Some(FileError::Missing { .. })));
        for reference in ["inside.txt", "/etc/passwd", "../secret.txt", "sub"] {
            assert!(roots.absence(reference).is_none(), "{reference}");
        }
    }
}
