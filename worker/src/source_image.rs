//! An image of an item as it was read, with the record that a result carries of it.

use crate::sources::Sources;
use bytes::Bytes;
use juror_files::data_roots::MAX_IMAGE_BYTES;
use juror_types::{
    id::Digest,
    item::ImageReference,
    outcome::{ErrorKind, InputRecord, JobError},
    reference::{Reference, shown},
};
use tokio::task::spawn_blocking;
use url::Url;

/// Largest size in bytes of which a digest is computed on an async thread, in a third of a
/// millisecond.
const MAX_INLINE_DIGEST: usize = 512 * 1024;

/// An image as it was read or made.
#[derive(Clone, Debug)]
pub struct SourceImage {
    /// Name, origin and digest.
    pub record: InputRecord,
    pub bytes: Bytes,
    /// The URL that it was read from; `None` for any other place, and for a URL with a query or an
    /// account, since these may be secrets.
    pub url: Option<Url>,
}

impl SourceImage {
    /// Reads an image of an item.
    ///
    /// # Errors
    /// Of kind `image`, where it cannot be read or is not what the manifest promises.
    pub async fn read(
        name: &str,
        image: &ImageReference,
        sources: &Sources,
    ) -> Result<Self, JobError> {
        let reference = shown(&image.reference);
        let bytes = sources
            .read(&image.reference, MAX_IMAGE_BYTES)
            .await
            .map_err(|error| image_error(error.to_string()))?;
        let made = Self::made(name, &reference, bytes).await;
        let source = Self { url: shown_url(&image.reference), ..made };
        match (image.sha256, source.record.digest) {
            (Some(promised), Some(digest)) if promised != digest => Err(image_error(format!(
                "{reference} does not match the manifest: its SHA-256 is {digest}, \
                 not {promised}; restore the file or correct the manifest"
            ))),
            _ => Ok(source),
        }
    }

    /// An image that was made during the evaluation, by this origin.
    pub async fn made(name: &str, origin: &str, bytes: Bytes) -> Self {
        let digest = Some(digest(&bytes).await);
        Self {
            record: InputRecord { digest, ..InputRecord::unread(name, origin) },
            bytes,
            url: None,
        }
    }
}

/// The error of an image that cannot be used.
pub fn image_error(message: String) -> JobError {
    JobError { kind: ErrorKind::Image, message }
}

fn shown_url(reference: &str) -> Option<Url> {
    match Reference::parse(reference) {
        Ok(Reference::Web(url)) if shown(url.as_str()) == url.as_str() => Some(url),
        _ => None,
    }
}

async fn digest(bytes: &Bytes) -> Digest {
    if bytes.len() <= MAX_INLINE_DIGEST {
        return Digest::from_content(bytes);
    }
    let shared = bytes.clone();
    let digesting = spawn_blocking(move || Digest::from_content(&shared));
    // The task is only cancelled at process exit.
    digesting.await.unwrap_or_else(|_| Digest::from_content(bytes))
}
