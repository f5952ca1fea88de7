//! Objects in buckets: read, queried and written. [`crate::fetch_policy`] decides on access.

#[cfg(feature = "azure")]
mod azure;
mod connection;
mod credentials;
mod failure;
#[cfg(feature = "gcp")]
mod google;
mod profile;
mod s3;
#[cfg(test)]
mod tests;

pub use credentials::{Credentials, S3Account};
pub use failure::ObjectError;

use bytes::Bytes;
use connection::Connector;
use failure::failure;
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use juror_types::reference::ObjectStoreKind;
use object_store::{ObjectStore, ObjectStoreExt as _, RetryConfig, path::Path};
use std::{sync::Arc, time::Duration};

/// Maximum size for which memory is reserved by a store's content length.
const MAX_LEADING_SPACE: u64 = 1 << 20;

/// Access to the object stores.
#[derive(Clone, Debug)]
pub struct ObjectSettings {
    /// Endpoint of S3; Amazon's own if not given.
    pub endpoint: Option<String>,
    /// Region of S3 buckets.
    pub region: Option<String>,
    /// Source of the account's credentials.
    pub credentials: Credentials,
    /// Time limit of one request.
    pub timeout: Duration,
    /// Number of retries of a failed request. 0 where the caller retries, so that there is one
    /// retry layer.
    pub retries: usize,
}

/// The error of a bucket that cannot be opened because of its settings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("bucket {bucket} cannot be used: {problem}")]
pub struct ObjectSetupError {
    /// The bucket, as in `s3://bucket`.
    pub bucket: String,
    /// The problem, with the remedy.
    pub problem: String,
}

/// A bucket. Clones share its connections.
#[derive(Clone, Debug)]
pub struct Bucket(Arc<dyn ObjectStore>);

impl Bucket {
    /// Prepares access to the bucket, without a request.
    pub fn open(
        service: ObjectStoreKind,
        name: &str,
        settings: &ObjectSettings,
    ) -> Result<Self, ObjectSetupError> {
        let unusable = |problem| {
            let bucket = format!("{}://{name}", service.name());
            ObjectSetupError { bucket, problem }
        };
        let plain = service == ObjectStoreKind::S3
            && settings.endpoint.as_ref().is_some_and(|endpoint| endpoint.starts_with("http://"));
        let connector = Connector::new(settings.timeout, !plain).map_err(unusable)?;
        let store = match service {
            ObjectStoreKind::S3 => s3::open(name, settings, connector),
            #[cfg(feature = "gcp")]
            ObjectStoreKind::Google => google::open(name, settings, connector),
            #[cfg(not(feature = "gcp"))]
            ObjectStoreKind::Google => Err(missing_feature("gcp")),
            #[cfg(feature = "azure")]
            ObjectStoreKind::Azure => azure::open(name, settings, connector),
            #[cfg(not(feature = "azure"))]
            ObjectStoreKind::Azure => Err(missing_feature("azure")),
        };
        store.map(Self).map_err(unusable)
    }

    /// An object of at most `max_bytes` bytes.
    pub fn read<'a>(
        &'a self,
        key: &'a str,
        max_bytes: u64,
    ) -> BoxFuture<'a, Result<Bytes, ObjectError>> {
        Box::pin(async move {
            let found = self.0.get(&path(key)?).await.map_err(failure)?;
            let size = found.meta.size;
            if size > max_bytes {
                return Err(ObjectError::TooLarge(max_bytes));
            }
            let mut content =
                Vec::with_capacity(usize::try_from(size.min(MAX_LEADING_SPACE)).unwrap_or(0));
            let mut pieces = found.into_stream();
            while let Some(piece) = pieces.next().await {
                content.extend_from_slice(&piece.map_err(failure)?);
                // The content length may have been wrong.
                if content.len() as u64 > max_bytes {
                    return Err(ObjectError::TooLarge(max_bytes));
                }
            }
            Ok(content.into())
        })
    }

    /// Size of an object in bytes; `None` if there is no such object.
    pub fn size<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<u64>, ObjectError>> {
        Box::pin(async move {
            match self.0.head(&path(key)?).await.map_err(failure) {
                Ok(found) => Ok(Some(found.size)),
                Err(ObjectError::Missing) => Ok(None),
                Err(error) => Err(error),
            }
        })
    }

    /// Writes an object atomically.
    pub fn write<'a>(
        &'a self,
        key: &'a str,
        content: Bytes,
    ) -> BoxFuture<'a, Result<(), ObjectError>> {
        Box::pin(async move {
            self.0.put(&path(key)?, content.into()).await.map(|_| ()).map_err(failure)
        })
    }
}

#[cfg(not(all(feature = "gcp", feature = "azure")))]
fn missing_feature(feature: &str) -> String {
    format!("this build does not support it; build with --features {feature}, or use s3://")
}

fn path(key: &str) -> Result<Path, ObjectError> {
    Path::parse(key).map_err(|error| ObjectError::Refused(error.to_string()))
}

fn retries(settings: &ObjectSettings) -> RetryConfig {
    RetryConfig { max_retries: settings.retries, ..RetryConfig::default() }
}
