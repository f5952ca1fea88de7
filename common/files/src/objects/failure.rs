//! Errors of an object store, by the caller's next step.

use juror_types::error_chain::{find_cause, with_causes};
use object_store::client::HttpError;

/// The error of reading or writing an object. The caller adds the object's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ObjectError {
    /// There is no such object.
    #[error("no such object; check bucket and key")]
    Missing,
    /// The object is too large.
    #[error("larger than the allowed {0} bytes")]
    TooLarge(u64),
    /// Permanent: retrying does not help.
    #[error("{0}")]
    Refused(String),
    /// Temporary: retrying may help.
    #[error("{0}")]
    Unavailable(String),
}

/// Error status of an object store's response.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.message())]
pub(super) struct ErrorStatus {
    pub(super) status: u16,
}

impl ErrorStatus {
    /// True if the same request may succeed later.
    pub(super) fn may_pass(&self) -> bool {
        matches!(self.status, 408 | 429 | 500..)
    }

    fn message(&self) -> String {
        let remedy = match self.status {
            301 | 307 | 308 | 400 => "; check the region and the endpoint of the bucket",
            401 | 403 => "; check the credentials and the bucket's permissions",
            _ => "",
        };
        format!("the object store returned status {}{remedy}", self.status)
    }
}

pub(super) fn failure(error: object_store::Error) -> ObjectError {
    if matches!(error, object_store::Error::NotFound { .. }) {
        return ObjectError::Missing;
    }
    if let Some(status) = find_cause::<ErrorStatus>(&error) {
        return match status.may_pass() {
            true => ObjectError::Unavailable(status.to_string()),
            false => ObjectError::Refused(status.to_string()),
        };
    }
    match find_cause::<HttpError>(&error) {
        Some(broken) => ObjectError::Unavailable(with_causes(broken)),
        None => ObjectError::Refused(with_causes(&error)),
    }
}
