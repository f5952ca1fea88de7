//! Records as JSON.

use crate::{error::LedgerError, job_store::CachedReply};
use serde::{Serialize, de::DeserializeOwned};

/// Backend of records, for the message about one that cannot be read.
pub(crate) struct JsonRecords {
    place: &'static str,
    remedy: &'static str,
}

impl JsonRecords {
    /// Records in Redis.
    pub(crate) const REDIS: Self = Self { place: "Redis", remedy: "another namespace" };
    /// Records in the database of a machine.
    pub(crate) const SQLITE: Self = Self { place: "the database", remedy: "start a new run" };

    /// Parses a record; `name` is that of messages, as in "result of job 1".
    pub(crate) fn read<T: DeserializeOwned>(
        &self,
        text: &str,
        name: impl Fn() -> String,
    ) -> Result<T, LedgerError> {
        let Self { place, remedy } = self;
        serde_json::from_str(text).map_err(|error| {
            LedgerError::Broken(format!(
                "the {} in {place} cannot be read ({error}): it was written by another version of \
                 this program; use that version, or {remedy}",
                name()
            ))
        })
    }
}

/// Parses a cached reply; `None` if it cannot be read: the reply to the next call replaces it.
pub(crate) fn read_cached_reply(text: &str) -> Option<CachedReply> {
    let warn = |error: &serde_json::Error| {
        tracing::warn!(%error, "a cached reply cannot be read: the judge is asked again");
    };
    serde_json::from_str(text).inspect_err(warn).ok()
}

/// Serializes a record.
pub(crate) fn write_json<T: Serialize>(value: &T) -> Result<String, LedgerError> {
    serde_json::to_string(value)
        .map_err(|error| LedgerError::Broken(format!("a record cannot be written ({error})")))
}
