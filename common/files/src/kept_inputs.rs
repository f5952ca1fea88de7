//! The inputs that a run keeps, in `<run directory>/inputs/`: the judged bytes, one file for each
//! distinct content, named by its SHA-256.

use crate::data_roots::{Roots, read_regular};
use bytes::Bytes;
use juror_types::id::Digest;
use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
};
use tokio::{sync::Semaphore, task::spawn_blocking};

/// Name of the folder in a run directory.
pub const INPUTS_FOLDER: &str = "inputs";

/// Maximum number of concurrent writes: each waits for the disk, and a few keep it busy.
const MAX_WRITES: usize = 8;

/// Suffix of a file that is being written.
const PART: &str = ".part";

/// The kept inputs of one run. File names are digests, so no data of a dataset reaches a path.
/// Clones share the folder.
#[derive(Clone, Debug)]
pub struct KeptInputs {
    folder: PathBuf,
    roots: Roots,
    writes: Arc<Semaphore>,
}

/// The error of keeping an input.
#[derive(Debug, thiserror::Error)]
#[error(
    "inputs cannot be kept in {}: {source}; free some space, or check the folder's permissions",
    folder.display()
)]
pub struct KeptInputError {
    /// Folder of the stored files.
    folder: PathBuf,
    /// The error of the operating system.
    source: io::Error,
}

impl KeptInputs {
    /// Opens the folder in a run directory for writing, creates it if there is none, and removes
    /// files that a killed process left incomplete. The caller holds the run's lock.
    pub fn create(run_directory: &Path) -> Result<Self, KeptInputError> {
        let kept = Self::new(run_directory);
        kept.prepare().map_err(|source| kept.error(source))?;
        Ok(kept)
    }

    /// The folder in a run directory, for reading; `None` if the run keeps no inputs.
    pub fn find(run_directory: &Path) -> Option<Self> {
        let kept = Self::new(run_directory);
        is_own_folder(&kept.folder).then_some(kept)
    }

    fn new(run_directory: &Path) -> Self {
        Self::in_folder(run_directory.join(INPUTS_FOLDER))
    }

    /// Kept inputs in this folder, which need not exist yet.
    pub(crate) fn in_folder(folder: PathBuf) -> Self {
        let roots = Roots::new(vec![folder.clone()]);
        Self { folder, roots, writes: Arc::new(Semaphore::new(MAX_WRITES)) }
    }

    fn prepare(&self) -> io::Result<()> {
        match fs::create_dir(&self.folder) {
            Ok(()) => self.folder.parent().map_or(Ok(()), sync_folder)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        if !is_own_folder(&self.folder) {
            return Err(io::Error::new(io::ErrorKind::NotADirectory, "not a folder"));
        }
        for entry in fs::read_dir(&self.folder)? {
            let name = entry?.file_name();
            let name = name.to_string_lossy();
            if name.starts_with('.') && name.ends_with(PART) {
                fs::remove_file(self.folder.join(&*name))?;
            }
        }
        Ok(())
    }

    /// Stores these bytes under their digest, durably. Content that is stored already is not
    /// written again; damaged content is.
    pub async fn keep(&self, digest: Digest, bytes: Bytes) -> Result<(), KeptInputError> {
        let interrupted = || self.error(io::ErrorKind::Interrupted.into());
        let writes = Arc::clone(&self.writes);
        let permit = writes.acquire_owned().await.map_err(|_| interrupted())?;
        let kept = self.clone();
        let writing = spawn_blocking(move || {
            let written = kept.keep_now(digest, &bytes);
            drop(permit);
            written.map_err(|source| kept.error(source))
        });
        writing.await.map_err(|_| interrupted())?
    }

    fn keep_now(&self, digest: Digest, bytes: &[u8]) -> io::Result<()> {
        let path = self.folder.join(digest.to_string());
        if is_stored(&path, bytes) {
            return Ok(());
        }
        // Jobs with equal inputs write concurrently, each its own file; the last rename wins.
        let name = format!(".{digest}.{:016x}{PART}", rand::random::<u64>());
        let temporary = self.folder.join(name);
        let written = write_new(&temporary, bytes).and_then(|()| fs::rename(&temporary, &path));
        if written.is_err() {
            // A leftover that cannot be removed is removed when the run is resumed.
            let _ = fs::remove_file(&temporary);
        }
        written.and_then(|()| sync_folder(&self.folder))
    }

    /// The content of this digest; `None` if it is not stored, larger than `max_bytes`, or damaged.
    pub fn read(&self, digest: Digest, max_bytes: u64) -> Option<Bytes> {
        let bytes = self.roots.read_now(&digest.to_string(), max_bytes).ok()?;
        (Digest::from_content(&bytes) == digest).then_some(bytes)
    }

    pub(crate) fn error(&self, source: io::Error) -> KeptInputError {
        KeptInputError { folder: self.folder.clone(), source }
    }
}

/// True if this is a folder, not a link.
fn is_own_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// True if a file, not a link, has exactly this content.
fn is_stored(path: &Path, bytes: &[u8]) -> bool {
    let length = bytes.len() as u64;
    let known = fs::symlink_metadata(path);
    known.is_ok_and(|known| known.is_file() && known.len() == length)
        && read_regular(path, length).is_ok_and(|stored| stored == bytes)
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(kept: &KeptInputs) -> Vec<String> {
        let entries = fs::read_dir(&kept.folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[tokio::test]
    async fn equal_content_is_stored_once_and_round_trips() {
        let run = tempfile::tempdir().unwrap();
        let kept = KeptInputs::create(run.path()).unwrap();
        let (bytes, digest) = (Bytes::from_static(b"code"), Digest::from_content(b"code"));
        let twice = [kept.keep(digest, bytes.clone()), kept.keep(digest, bytes.clone())];
        for kept in futures_util::future::join_all(twice).await {
            kept.unwrap();
        }
        assert_eq!(names(&kept), [digest.to_string()]);
        let found = KeptInputs::find(run.path()).unwrap();
        assert_eq!(found.read(digest, 4), Some(bytes));
        assert_eq!(found.read(digest, 3), None, "larger than the maximum");
        assert_eq!(found.read(Digest::from_content(b"other"), 100), None);
    }

    #[tokio::test]
    async fn damaged_content_is_not_returned_and_is_rewritten() {
        let run = tempfile::tempdir().unwrap();
        let kept = KeptInputs::create(run.path()).unwrap();
        let (bytes, digest) = (Bytes::from_static(b"whole"), Digest::from_content(b"whole"));
        let path = kept.folder.join(digest.to_string());
        for damaged in ["who", "whale"] {
            fs::write(&path, damaged).unwrap();
            assert_eq!(kept.read(digest, 100), None);
            kept.keep(digest, bytes.clone()).await.unwrap();
            assert_eq!(kept.read(digest, 100), Some(bytes.clone()));
        }
    }

    #[test]
    fn temporary_files_of_a_killed_process_are_removed() {
        let run = tempfile::tempdir().unwrap();
        fs::create_dir(run.path().join(INPUTS_FOLDER)).unwrap();
        let left = run.path().join("inputs/.abc.0000000000000001.part");
        fs::write(&left, "ha").unwrap();
        let kept = KeptInputs::create(run.path()).unwrap();
        assert!(names(&kept).is_empty());
    }

    #[tokio::test]
    async fn links_are_neither_followed_nor_written_through() {
        let (run, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(elsewhere.path(), run.path().join(INPUTS_FOLDER)).unwrap();
        assert!(KeptInputs::find(run.path()).is_none());
        let error = KeptInputs::create(run.path()).unwrap_err().to_string();
        assert!(error.contains("inputs: not a folder; free some space"), "{error}");

        let other = tempfile::tempdir().unwrap();
        let kept = KeptInputs::create(other.path()).unwrap();
        let (target, digest) = (elsewhere.path().join("target"), Digest::from_content(b"code"));
        fs::write(&target, "kode").unwrap();
        std::os::unix::fs::symlink(&target, kept.folder.join(digest.to_string())).unwrap();
        assert_eq!(kept.read(digest, 100), None);
        kept.keep(digest, Bytes::from_static(b"code")).await.unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"kode");
        assert_eq!(kept.read(digest, 100).as_deref(), Some(&b"code"[..]));
    }
}
