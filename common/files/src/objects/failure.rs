//! Failures of an object store, by the remedy.

use juror_types::error_chain::with_causes;
use object_store::client::HttpError;
use std::error::Error;

/// Reason why an object was not read or written. The caller adds the object's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ObjectError {
    /// It is not there.
    #[error("no such object; check bucket and key")]
    Missing,
    /// It is larger than such an object may be.
    #[error("larger than the {0} bytes that are allowed here")]
    TooLarge(u64),
    /// Trying again would change nothing.
    #[error("{0}")]
    Refused(String),
    /// Trying again may help.
    #[error("{0}")]
    Unavailable(String),
}

/// The object store answered, and with neither the object nor its absence.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.message())]
pub(super) struct Answered {
    pub(super) status: u16,
}

impl Answered {
    /// True if the same request may be answered otherwise a little later.
    pub(super) fn may_pass(&self) -> bool {
        matches!(self.status, 408 | 429 | 500..)
    }

    fn message(&self) -> String {
        let remedy = match self.status {
            301 | 307 | 308 | 400 => "; check the region and the endpoint of the bucket",
            401 | 403 => "; check the account and what the bucket allows it",
            _ => "",
        };
        format!("the object store answers with status {}{remedy}", self.status)
    }
}

pub(super) fn failure(error: object_store::Error) -> ObjectError {
    if matches!(error, object_store::Error::NotFound { .. }) {
        return ObjectError::Missing;
    }
    if let Some(answered) = cause::<Answered>(&error) {
        return match answered.may_pass() {
            true => ObjectError::Unavailable(answered.to_string()),
            false => ObjectError::Refused(answered.to_string()),
        };
    }
    match cause::<HttpError>(&error) {
        Some(broken) => ObjectError::Unavailable(with_causes(broken)),
        None => ObjectError::Refused(with_causes(&error)),
    }
}

fn cause<T: Error + 'static>(error: &object_store::Error) -> Option<&T> {
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = next {
        match error.downcast_ref() {
            Some(found) => return Some(found),
            None => next = error.source(),
        }
    }
    None
}
