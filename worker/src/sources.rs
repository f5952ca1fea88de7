//! Reads the files of references: on this machine, on web servers and in buckets, as far as the
//! settings allow. No other module of this crate opens any.

mod address;
mod fetch_error;
mod http_fetch;
mod resolver;
#[cfg(test)]
mod tests;

use crate::{jitter::full_jitter, per_second_limiter::InvalidRate};
use bytes::Bytes;
use fetch_error::{FetchError, fetch_pause};
use http_fetch::Web;
use juror_files::{
    FileSettings, InvalidFileSetting,
    data_roots::{FileError, Roots},
    fetch_policy::{FetchPolicy, NotAllowed},
    objects::{Bucket, Credentials, ObjectError, ObjectSettings, ObjectSetupError},
};
use juror_types::reference::{InvalidReference, Reference, shown};
use resolver::SystemLookup;
use std::{sync::Arc, time::Duration};

/// Everything that files may be read from.
pub struct Sources {
    roots: Roots,
    allowed: Arc<FetchPolicy>,
    /// Access to web servers; `None` if no host is allowed.
    web: Option<Web>,
    /// One for each allowed bucket, in their order.
    buckets: Vec<Bucket>,
    pause: fn(u32) -> Duration,
}

/// Reason why a file was not read. Shows no query of a URL, which may be a signature.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// A file of this machine, or one that is too large wherever it is.
    #[error(transparent)]
    File(#[from] FileError),
    /// No reference at all.
    #[error(transparent)]
    Reference(#[from] InvalidReference),
    /// The settings do not allow its place.
    #[error("{reference}: {reason}")]
    NotAllowed {
        /// Reference of the item.
        reference: String,
        /// The part that is not allowed, and the setting that would allow it.
        reason: NotAllowed,
    },
    /// The file was not available.
    #[error("{reference}: {problem}")]
    Fetch {
        /// Reference of the item.
        reference: String,
        /// The problem, with the remedy.
        problem: String,
    },
}

/// Error of the configuration of sources.
#[derive(Debug, thiserror::Error)]
pub enum SourceSetupError {
    /// An invalid setting.
    #[error(transparent)]
    Settings(#[from] InvalidFileSetting),
    /// An invalid rate of fetches.
    #[error("setting files.fetches_per_second_per_host: {0}")]
    Pace(#[from] InvalidRate),
    /// A bucket that cannot be used.
    #[error(transparent)]
    Bucket(#[from] ObjectSetupError),
    /// TLS cannot be set up: this machine has no root certificates, for one.
    #[error("no client for HTTPS can be set up: {0}; are the system's CA certificates installed?")]
    Tls(String),
}

impl Sources {
    /// Sources of local files alone.
    pub fn local(roots: Roots) -> Self {
        let allowed = Arc::default();
        Self { roots, allowed, web: None, buckets: Vec::new(), pause: full_jitter }
    }

    /// Sources of local files and of everything else that the settings allow. Makes no connection.
    pub fn open(
        roots: Roots,
        settings: &FileSettings,
        credentials: Credentials,
    ) -> Result<Self, SourceSetupError> {
        let allowed = Arc::new(settings.allowed()?);
        let timeout = Duration::from_secs(settings.fetch_timeout_seconds);
        let web = match allowed.hosts() {
            [] => None,
            _ => {
                let rate = f64::from(settings.fetches_per_second_per_host);
                Some(Web::new(&allowed, rate, timeout, Arc::new(SystemLookup))?)
            }
        };
        let objects = ObjectSettings {
            endpoint: settings.s3_endpoint.clone(),
            region: settings.s3_region.clone(),
            credentials,
            timeout,
            // Retries are done here, not in the object store client.
            retries: 0,
        };
        let open = |bucket: &juror_files::fetch_policy::AllowedBucket| {
            Bucket::open(bucket.service, &bucket.name, &objects)
        };
        let buckets = allowed.buckets().iter().map(open).collect::<Result<_, _>>()?;
        Ok(Self { roots, allowed, web, buckets, pause: full_jitter })
    }

    /// The folders of local files.
    pub fn roots(&self) -> &Roots {
        &self.roots
    }

    /// Reads a file of at most `max_bytes` bytes. Passing failures are retried.
    pub async fn read(&self, reference: &str, max_bytes: u64) -> Result<Bytes, SourceError> {
        let not_allowed =
            |reason| SourceError::NotAllowed { reference: shown(reference).into_owned(), reason };
        let fetched = match Reference::parse(reference)? {
            Reference::Path(path) => return Ok(self.roots.read(path, max_bytes).await?),
            Reference::Web(url) => {
                self.allowed.host(&url).map_err(not_allowed)?;
                let web = self.web.as_ref();
                self.fetch_with_retries(|| async {
                    web.ok_or_else(FetchError::not_configured)?.fetch(url.clone(), max_bytes).await
                })
                .await
            }
            Reference::Object(object) => {
                let place = self.allowed.bucket(&object).map_err(not_allowed)?;
                let bucket = self.buckets.get(place);
                self.fetch_with_retries(|| async {
                    let bucket = bucket.ok_or_else(FetchError::not_configured)?;
                    Ok(bucket.read(&object.key, max_bytes).await?)
                })
                .await
            }
        };
        let reference = shown(reference).into_owned();
        fetched.map_err(|miss| match miss {
            FetchError::TooLarge(limit) => FileError::TooLarge { reference, limit }.into(),
            FetchError::Final(problem) | FetchError::Passing { problem, .. } => {
                SourceError::Fetch { reference, problem }
            }
        })
    }

    /// Error of the first of these local files that is missing here although another machine may
    /// have it; `None` if none is missing.
    pub async fn absence(&self, references: Vec<String>) -> Option<FileError> {
        let roots = self.roots.clone();
        let looking = tokio::task::spawn_blocking(move || {
            references.iter().find_map(|reference| match Reference::parse(reference) {
                Ok(Reference::Path(path)) => roots.absence(path),
                _ => None,
            })
        });
        // A cancelled check counts as no missing file.
        looking.await.ok().flatten()
    }

    /// Fetches with retries until a file comes or a retry is no use.
    async fn fetch_with_retries<Fetch: Future<Output = Result<Bytes, FetchError>>>(
        &self,
        fetch: impl Fn() -> Fetch,
    ) -> Result<Bytes, FetchError> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            let (problem, wait) = match fetch().await {
                Err(FetchError::Passing { problem, wait }) => (problem, wait),
                fetched => return fetched,
            };
            match fetch_pause(attempts, wait, self.pause) {
                Some(pause) => tokio::time::sleep(pause).await,
                None => {
                    return Err(FetchError::Final(format!("{problem}, {attempts} times in a row")));
                }
            }
        }
    }
}

impl From<ObjectError> for FetchError {
    fn from(error: ObjectError) -> Self {
        match error {
            ObjectError::Unavailable(problem) => Self::Passing { problem, wait: None },
            ObjectError::TooLarge(limit) => Self::TooLarge(limit),
            error => Self::Final(error.to_string()),
        }
    }
}
