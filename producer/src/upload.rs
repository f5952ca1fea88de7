//! Uploads the local files of items to a bucket, so that workers on other machines can read them.
//!
//! Objects are named by their content, so an interrupted upload continues where it was, and a file
//! shared by many items is sent once.

use juror_files::{
    FileSettings,
    data_roots::{FileError, MAX_CODE_BYTES, MAX_IMAGE_BYTES, MAX_TEXT_BYTES, Roots},
    fetch_policy::AllowedBucket,
    objects::{Bucket, Credentials, ObjectError, ObjectSettings, ObjectSetupError},
};
use juror_types::{
    id::Digest,
    item::{ImageReference, Item, Text, TokenSource},
    reference::{ObjectReference, Reference},
};
use parking_lot::Mutex;
use std::{
    collections::HashMap,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::sync::{OnceCell, Semaphore};

/// Maximum number of concurrent uploads; each file is held in memory. More concurrent items than
/// this gain nothing.
pub const MAX_CONCURRENT_UPLOADS: usize = 16;
/// Timeout of one file. An image has at most 64 MB.
const TIMEOUT: Duration = Duration::from_secs(300);
/// Number of retries of a request that fails temporarily.
const RETRIES: usize = 5;
/// Maximum number of objects cached as existing.
const MAX_KNOWN: usize = 100_000;

/// Uploader of files to a bucket, with the objects known to exist there.
pub struct Uploader {
    bucket: Bucket,
    place: AllowedBucket,
    roots: Roots,
    turns: Semaphore,
    /// Files that are uploaded or being uploaded: items may share a file.
    known: Mutex<HashMap<String, Arc<OnceCell<()>>>>,
    sent: AtomicU64,
    found: AtomicU64,
}

/// The error of a bucket that is not usable because of the flag or the settings.
#[derive(Debug, thiserror::Error)]
pub enum UploadSetupError {
    /// The destination is no bucket.
    #[error("{0:?} is not an upload destination; use s3://bucket/prefix")]
    Destination(String),
    /// A bucket that cannot be opened.
    #[error(transparent)]
    Bucket(#[from] ObjectSetupError),
}

/// The error of uploading an item's files.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum UploadError {
    /// A file cannot be read: correct the dataset.
    #[error("item {item:?}: {source}")]
    File {
        /// The item's id.
        item: String,
        /// Error of the file.
        source: FileError,
    },
    /// A file differs from its digest in the manifest: correct the dataset.
    #[error(
        "item {item:?}: {reference} does not match the manifest: its SHA-256 is \
         {found}, not {promised}; restore the file or correct the manifest"
    )]
    Digest {
        /// The item's id.
        item: String,
        reference: String,
        /// Actual digest.
        found: Digest,
        /// Digest in the manifest.
        promised: Digest,
    },
    /// The bucket refuses the object. The same command continues from here.
    #[error("{object} cannot be uploaded: {source}")]
    Object {
        /// The object, as in `s3://bucket/key`.
        object: String,
        /// Error of the bucket.
        source: ObjectError,
    },
}

impl UploadError {
    /// True if the dataset must be corrected.
    pub fn is_of_the_dataset(&self) -> bool {
        matches!(self, Self::File { .. } | Self::Digest { .. })
    }
}

/// Summary of uploads so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uploaded {
    /// Number of files that were sent.
    pub sent: u64,
    /// Number of files that existed already.
    pub found: u64,
}

impl Uploader {
    /// Prepares uploads to a destination such as `s3://bucket/prefix`, without a request. Files are
    /// read from these roots.
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
            turns: Semaphore::new(MAX_CONCURRENT_UPLOADS),
            known: Mutex::default(),
            sent: AtomicU64::new(0),
            found: AtomicU64::new(0),
        })
    }

    /// Uploads every local file of an item, and returns the item with references to the objects and
    /// its images' digests. URLs are unchanged.
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

    /// Uploads a file unless it exists; `None` if the path is not a local file.
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
        // The semaphore is never closed; without a permit, only the number of concurrent uploads
        // grows.
        let _turn = self.turns.acquire().await;
        let content = self.roots.read(reference, max_bytes).await;
        let content =
            content.map_err(|source| UploadError::File { item: item.to_owned(), source })?;
        let digest = Digest::from_content(&content);
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

    /// `prefix/<digest>.<extension>`: extensions determine languages.
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
        let mut known = self.known.lock();
        if known.len() >= MAX_KNOWN {
            known.clear();
        }
        Arc::clone(known.entry(key.to_owned()).or_default())
    }
}

#[cfg(test)]
mod tests;
