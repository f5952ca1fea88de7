//! `[batch]`: calls in batches.

use super::SettingsError;
use jiff::SignedDuration;
use juror_files::{InvalidFileSetting, fetch_policy::FetchPolicy};
use serde::Deserialize;
use std::time::Duration;

/// `[batch]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BatchLaneSettings {
    /// Minimum interval between polls of a batch; it doubles with each poll.
    pub poll_min: DurationSetting,
    /// Maximum interval between polls.
    pub poll_max: DurationSetting,
    /// Maximum number of rows of a batch.
    pub max_rows: usize,
    /// Maximum size of a batch's file, in bytes.
    pub max_bytes: u64,
    /// Hosts from which the provider may fetch images, as in `files.hosts`.
    pub public_hosts: Vec<String>,
    /// True if files are deleted at the provider after they are read.
    pub delete_files: bool,
    /// Time without a new job after which a fleet's worker submits its batch.
    pub seal_after: DurationSetting,
    /// Time without a heartbeat after which another worker takes over the batches of a worker.
    pub owner_timeout: DurationSetting,
    /// Time before the deadline at which `mixed` stops waiting for batches.
    pub realtime_reserve: DurationSetting,
}

impl BatchLaneSettings {
    /// The hosts from which the provider may fetch images.
    ///
    /// # Errors
    /// An entry that is not a host.
    pub fn public_hosts(&self) -> Result<FetchPolicy, SettingsError> {
        FetchPolicy::parse(&self.public_hosts, &[], &[])
            .map_err(|invalid| InvalidFileSetting { key: "batch.public_hosts", ..invalid }.into())
    }
}

/// A duration, written as in `2s` or `30m`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct DurationSetting(pub Duration);

/// A text that is not a duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a duration: write it as in \"2s\", \"500ms\" or \"30m\"")]
pub struct InvalidDuration(String);

impl TryFrom<String> for DurationSetting {
    type Error = InvalidDuration;

    fn try_from(text: String) -> Result<Self, InvalidDuration> {
        let duration = text.parse::<SignedDuration>().ok();
        let duration = duration.and_then(|duration| Duration::try_from(duration).ok());
        duration.map(Self).ok_or(InvalidDuration(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        for (text, milliseconds) in [("2s", 2_000), ("500ms", 500), ("1m 30s", 90_000)] {
            let duration = DurationSetting::try_from(text.to_owned()).unwrap();
            assert_eq!(duration.0, Duration::from_millis(milliseconds));
        }
        for text in ["2", "-2s", "soon", ""] {
            assert!(DurationSetting::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
