//! Images generated during judging, stored by digest next to the ledger, so that pages show the
//! judged images, and records of what was rendered and measured. Bounded: the least recently used
//! are evicted.

use crate::{
    data_roots::open_regular,
    kept_inputs::{KeptInputError, KeptInputs},
};
use bytes::Bytes;
use juror_types::id::Digest;
use std::{
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::SystemTime,
};
use tokio::task::spawn_blocking;

/// Name of the folder in the state folder. No run can have it, since no run id begins with a dot.
pub const RENDERS_FOLDER: &str = ".renders";

/// Maximum size of the folder in bytes.
const MAX_BYTES: u64 = 2 * 1024 * 1024 * 1024;
/// Number of bytes that are written between two scans of the folder.
const PRUNE_STEP: u64 = 64 * 1024 * 1024;

/// Image store in one folder. Clones share the folder.
#[derive(Clone, Debug)]
pub struct RenderCache {
    folder: PathBuf,
    kept: KeptInputs,
    /// Bytes written since the folder was looked through; the first write does so.
    written: Arc<AtomicU64>,
}

/// Subject of a record beside the images, by which its file is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    /// A rendered page.
    Page,
    /// The measured evidence of an item.
    Evidence,
}

impl RecordKind {
    fn file_name(self, key: Digest) -> String {
        let extension = match self {
            Self::Page => "page",
            Self::Evidence => "evidence",
        };
        format!("{key}.{extension}")
    }
}

/// Size of the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeptRendersSize {
    /// Number of pictures.
    pub pictures: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl RenderCache {
    /// Store of this state folder; nothing is created before the first image.
    pub fn in_state(state: &Path) -> Self {
        Self::in_folder(state.join(RENDERS_FOLDER))
    }

    /// Store in this folder, which several processes may share; it is created for the first image.
    pub fn in_folder(folder: PathBuf) -> Self {
        let kept = KeptInputs::in_folder(folder.clone());
        Self { folder, kept, written: Arc::new(AtomicU64::new(PRUNE_STEP)) }
    }

    /// Stores an image under its digest.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub async fn keep(&self, digest: Digest, bytes: Bytes) -> Result<(), KeptInputError> {
        let before = self.written.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        if before >= PRUNE_STEP {
            self.written.store(0, Ordering::Relaxed);
            let folder = self.folder.clone();
            let pruning = spawn_blocking(move || {
                fs::create_dir_all(&folder)?;
                prune(&folder, MAX_BYTES)
            });
            let pruned = pruning.await.unwrap_or_else(|_| Err(io::ErrorKind::Interrupted.into()));
            pruned.map_err(|source| self.kept.error(source))?;
        }
        self.kept.keep(digest, bytes).await
    }

    /// Image of this digest; `None` if it is missing, larger than the maximum, or damaged.
    pub fn read(&self, digest: Digest, max_bytes: u64) -> Option<Bytes> {
        let picture = self.kept.read(digest, max_bytes)?;
        if let Ok(file) = open_regular(&self.folder.join(digest.to_string()), max_bytes) {
            mark_used(&file);
        }
        Some(picture)
    }

    /// Stores a record under the digest of everything that it depends on. A record lost in a crash
    /// is made anew.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub async fn keep_record(
        &self,
        kind: RecordKind,
        key: Digest,
        bytes: Bytes,
    ) -> Result<(), KeptInputError> {
        let folder = self.folder.clone();
        self.written.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let writing = spawn_blocking(move || {
            let temporary = folder.join(format!(".{key}.{:016x}.part", rand::random::<u64>()));
            fs::write(&temporary, &bytes)?;
            fs::rename(&temporary, folder.join(kind.file_name(key)))
        });
        let written = writing.await.unwrap_or_else(|_| Err(io::ErrorKind::Interrupted.into()));
        written.map_err(|source| self.kept.error(source))
    }

    /// The record of this digest; `None` if there is none, or it is larger than this.
    pub fn read_record(&self, kind: RecordKind, key: Digest, max_bytes: u64) -> Option<Bytes> {
        let mut file = open_regular(&self.folder.join(kind.file_name(key)), max_bytes).ok()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        mark_used(&file);
        Some(bytes.into())
    }

    /// Folder of the pictures.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Size of the store.
    pub fn size(&self) -> KeptRendersSize {
        let files = files(&self.folder).unwrap_or_default();
        let bytes = files.iter().map(|file| file.bytes).sum();
        KeptRendersSize { pictures: pictures(&files), bytes }
    }

    /// Removes every image and returns their number.
    ///
    /// # Errors
    /// The folder cannot be listed, or a picture not be removed.
    pub fn clear(&self) -> io::Result<u64> {
        let files = files(&self.folder)?;
        for file in &files {
            remove(&file.path)?;
        }
        Ok(pictures(&files))
    }
}

struct KeptFile {
    path: PathBuf,
    bytes: u64,
    /// Time of the last use.
    used: SystemTime,
}

/// Records the use of a kept file as the time of its last change.
fn mark_used(file: &fs::File) {
    // Fails for readers that do not own the file: then the modification time counts.
    let _ = file.set_modified(SystemTime::now());
}

/// True for the name of an image, a record, or a temporary file of either. Other files in the folder
/// are foreign.
fn is_kept_name(name: &str) -> bool {
    let stem = name.strip_suffix(".part").unwrap_or(name).trim_start_matches('.');
    stem.split('.').next().is_some_and(|digest| digest.parse::<Digest>().is_ok())
}

fn pictures(files: &[KeptFile]) -> u64 {
    files.iter().filter(|file| file.path.extension().is_none()).count() as u64
}

fn files(folder: &Path) -> io::Result<Vec<KeptFile>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry?;
        // Another process may have removed it since.
        let Ok(metadata) = entry.metadata() else { continue };
        if metadata.is_file() && is_kept_name(&entry.file_name().to_string_lossy()) {
            let used = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            files.push(KeptFile { path: entry.path(), bytes: metadata.len(), used });
        }
    }
    Ok(files)
}

/// Removes the files unused the longest beyond this many bytes.
fn prune(folder: &Path, max_bytes: u64) -> io::Result<()> {
    let mut files = files(folder)?;
    files.sort_by_key(|file| std::cmp::Reverse(file.used));
    let mut kept = 0_u64;
    for file in &files {
        kept = kept.saturating_add(file.bytes);
        if kept > max_bytes {
            remove(&file.path)?;
        }
    }
    Ok(())
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test]
    async fn images_are_stored_by_digest_and_removed_on_request() {
        let state = tempfile::tempdir().unwrap();
        let renders = RenderCache::in_state(state.path());
        assert_eq!(renders.size(), KeptRendersSize::default());
        let (bytes, digest) = (Bytes::from_static(b"picture"), Digest::from_content(b"picture"));
        renders.keep(digest, bytes.clone()).await.unwrap();
        renders.keep(digest, bytes.clone()).await.unwrap();
        assert_eq!(renders.read(digest, 100), Some(bytes));
        assert_eq!(renders.size(), KeptRendersSize { pictures: 1, bytes: 7 });
        let key = Digest::from_content(b"code");
        renders.keep_record(RecordKind::Page, key, Bytes::from_static(b"page")).await.unwrap();
        assert_eq!(
            renders.read_record(RecordKind::Page, key, 4),
            Some(Bytes::from_static(b"page"))
        );
        assert_eq!(renders.read_record(RecordKind::Page, digest, 4), None);
        assert_eq!(renders.size(), KeptRendersSize { pictures: 1, bytes: 11 });
        let other = renders.folder().join("notes.txt");
        fs::write(&other, "somebody's").unwrap();
        assert_eq!(renders.clear().unwrap(), 1);
        assert_eq!(renders.read(digest, 100), None);
        assert!(other.exists(), "it is no picture");
    }

    #[tokio::test]
    async fn least_recently_used_renders_are_evicted() {
        let state = tempfile::tempdir().unwrap();
        let renders = RenderCache::in_state(state.path());
        let (key, digest) = (Digest::from_content(b"page"), Digest::from_content(b"picture 1"));
        renders.keep(digest, Bytes::from_static(b"picture 1")).await.unwrap();
        renders.keep_record(RecordKind::Page, key, Bytes::from_static(b"page of 1")).await.unwrap();
        let unused = Digest::from_content(b"picture 2");
        renders.keep(unused, Bytes::from_static(b"picture 2")).await.unwrap();
        // The first two were written long before the third.
        for (age, name) in
            [(2, digest.to_string()), (3, RecordKind::Page.file_name(key)), (1, unused.to_string())]
        {
            let file = fs::File::open(renders.folder.join(name)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(3600 * age)).unwrap();
        }
        assert!(
            renders.read_record(RecordKind::Page, key, 100).is_some()
                && renders.read(digest, 100).is_some()
        );
        prune(&renders.folder, 18).unwrap();
        assert_eq!(renders.size(), KeptRendersSize { pictures: 1, bytes: 18 });
        assert!(
            renders.read_record(RecordKind::Page, key, 100).is_some()
                && renders.read(digest, 100).is_some()
        );
        assert_eq!(renders.read(unused, 100), None);
    }
}
