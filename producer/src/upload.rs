//! Puts the local files of items into a bucket, so that workers of other machines can read them.
//!
//! Objects are named by their content, so an upload that broke off goes on where it was, and what
//! many items share is sent once.

use juror_files::{
    FileSettings,
    fetch_policy::AllowedBucket,
    local::{FileError, MAX_CODE_BYTES, MAX_IMAGE_BYTES, MAX_TEXT_BYTES, Roots},
    objects::{Bucket, Credentials, ObjectError, ObjectSettings, ObjectSetupError},
};
use juror_types::{
    id::Digest,
    item::{ImageReference, Item, Text, TokenSource},
    reference::{ObjectReference, Reference},
};
use std::{
    collections::HashMap,
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::sync::{OnceCell, Semaphore};

/// Files that are under way at once; each is held in memory. More items than this in hand at once
/// gain nothing.
pub const UPLOADS_AT_A_TIME: usize = 16;
/// Time limit of one file. An image has at most 64 MB.
const TIMEOUT: Duration = Duration::from_secs(300);
/// Repetitions of a request that fails for a passing reason.
const RETRIES: usize = 5;
/// Names of objects that are remembered, to be asked for no second time.
const MAX_KNOWN: usize = 100_000;

/// Uploader of files to a bucket, with the objects that are known to be there.
pub struct Uploader {
    bucket: Bucket,
    place: AllowedBucket,
    roots: Roots,
    turns: Semaphore,
    /// Files that are there, or on their way: many items may share a file.
    known: Mutex<HashMap<String, Arc<OnceCell<()>>>>,
    sent: AtomicU64,
    found: AtomicU64,
}

/// Reason why the bucket cannot be used; a person must correct the flag or the settings.
#[derive(Debug, thiserror::Error)]
pub enum UploadSetupError {
    /// No bucket at all.
    #[error("{0:?} is no place to upload to; write s3://bucket/prefix")]
    Destination(String),
    /// A bucket that cannot be used.
    #[error(transparent)]
    Bucket(#[from] ObjectSetupError),
}

/// Reason why an item's files were not uploaded.
#[derive(Debug, thiserror::Error)]
pub enum UploadError {
    /// A file cannot be read; the dataset must be mended.
    #[error("item {item:?}: {source}")]
    File {
        /// The item's id.
        item: String,
        /// Error of the file.
        source: FileError,
    },
    /// A file is another one than the manifest promises; the dataset must be mended.
    #[error(
        "item {item:?}: {reference} is not the file that the manifest promises: its SHA-256 is \
         {found}, not {promised}; restore the file or correct the manifest"
    )]
    Digest {
        /// The item's id.
        item: String,
        /// The file.
        reference: String,
        /// Its digest.
        found: Digest,
        /// The manifest's.
        promised: Digest,
    },
    /// The bucket does not take it. The same command again goes on from here.
    #[error("{object} cannot be uploaded: {source}")]
    Object {
        /// The object, as in `s3://bucket/key`.
        object: String,
        /// Error of the bucket.
        source: ObjectError,
    },
}

impl UploadError {
    /// True if the dataset must be mended before it can be uploaded.
    pub fn is_of_the_dataset(&self) -> bool {
        matches!(self, Self::File { .. } | Self::Digest { .. })
    }
}

/// Summary of uploads so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uploaded {
    /// Files that were sent.
    pub sent: u64,
    /// Files that were there already.
    pub found: u64,
}

impl Uploader {
    /// Prepares to upload to a destination as in `s3://bucket/prefix`; asks nobody. Files are read
    /// from these roots.
    pub fn open(
        destination: &str,
        settings: &FileSettings,
        credentials: Credentials,
        roots: Roots,
    ) -> Result<Self, UploadSetupError> {
        let place = AllowedBucket::parse(destination)
            .ok_or_else(|| UploadSetupError::Destination(destination.to_owned()))?;
        let objects = ObjectSettings {
            endpoint: settings.s3_endpoint.clone(),
            region: settings.s3_region.clone(),
            credentials,
            timeout: TIMEOUT,
            retries: RETRIES,
        };
        let bucket = Bucket::open(place.service, &place.name, &objects)?;
        Ok(Self {
            bucket,
            place,
            roots,
            turns: Semaphore::new(UPLOADS_AT_A_TIME),
            known: Mutex::default(),
            sent: AtomicU64::new(0),
            found: AtomicU64::new(0),
        })
    }

    /// Uploads every local file that an item names, and answers the item with the references of the
    /// objects in their place, and its images' digests. URLs stay as they are.
    pub async fn upload_item(&self, mut item: Item) -> Result<Item, UploadError> {
        let id = item.id.clone();
        for image in item.images.values_mut().chain(&mut item.rendered) {
            if let Some(put) = self.put(&id, image, MAX_IMAGE_BYTES).await? {
                *image = put;
            }
        }
        if let Some(Text::Path(path)) = &mut item.generated_code {
            self.replace(&id, path, MAX_CODE_BYTES).await?;
        }
        for tokens in [&mut item.expected_tokens, &mut item.extracted_tokens] {
            if let Some(TokenSource::Path(path)) = tokens {
                self.replace(&id, path, MAX_TEXT_BYTES).await?;
            }
        }
        Ok(item)
    }

    /// Summary of uploads so far.
    pub fn uploaded(&self) -> Uploaded {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Uploaded { sent: count(&self.sent), found: count(&self.found) }
    }

    async fn replace(
        &self,
        item: &str,
        path: &mut String,
        max_bytes: u64,
    ) -> Result<(), UploadError> {
        let file = ImageReference { reference: path.clone(), sha256: None };
        if let Some(put) = self.put(item, &file, max_bytes).await? {
            *path = put.reference;
        }
        Ok(())
    }

    /// Sees to it that a file is there; none if it is no file of this machine.
    async fn put(
        &self,
        item: &str,
        file: &ImageReference,
        max_bytes: u64,
    ) -> Result<Option<ImageReference>, UploadError> {
        let reference = &file.reference;
        if !Reference::is_path(reference) {
            return Ok(None);
        }
        // Nobody closes the semaphore; without a permit, more would only be under way at once.
        let _turn = self.turns.acquire().await;
        let content = self.roots.read(reference, max_bytes).await;
        let content =
            content.map_err(|source| UploadError::File { item: item.to_owned(), source })?;
        let digest = Digest::of(&content);
        if let Some(promised) = file.sha256.filter(|promised| *promised != digest) {
            let (item, reference) = (item.to_owned(), reference.clone());
            return Err(UploadError::Digest { item, reference, found: digest, promised });
        }
        let object = self.object(reference, digest);
        let shown = object.to_string();
        let failed = |source| UploadError::Object { object: shown.clone(), source };
        let there = self.known(&object.key);
        let sending = there.get_or_try_init(async || {
            if self.bucket.size(&object.key).await? == Some(content.len() as u64) {
                self.found.fetch_add(1, Ordering::Relaxed);
            } else {
                self.bucket.write(&object.key, content).await?;
                self.sent.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        });
        sending.await.map_err(failed)?;
        Ok(Some(ImageReference { reference: shown, sha256: Some(digest) }))
    }

    /// `prefix/<digest>.<ending>`: endings tell languages.
    fn object(&self, reference: &str, digest: Digest) -> ObjectReference {
        let AllowedBucket { service, name, prefix } = &self.place;
        let folder = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
        let ending = Path::new(reference).extension().and_then(|ending| ending.to_str());
        let ending = ending
            .filter(|ending| {
                ending.len() <= 10 && ending.chars().all(|c| c.is_ascii_alphanumeric())
            })
            .map_or(String::new(), |ending| format!(".{}", ending.to_ascii_lowercase()));
        ObjectReference {
            service: *service,
            bucket: name.clone(),
            key: format!("{folder}{digest}{ending}"),
        }
    }

    fn known(&self, key: &str) -> Arc<OnceCell<()>> {
        // A map of cells is whole after every step.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_KNOWN {
            known.clear();
        }
        Arc::clone(known.entry(key.to_owned()).or_default())
    }
}

#[cfg(test)]
mod tests;
