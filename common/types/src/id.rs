//! Ids of runs, jobs, owners and leases, and digests of contents.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::{
    fmt,
    io::{self, BufRead as _, BufReader, Read},
    str::FromStr,
};

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// An id from its text.
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }
    };
}

text_id! {
    /// Id of a run; also the name of its run directory.
    RunId
}
text_id! {
    /// Id of a job of a run, the same however often it is planned or delivered.
    JobId
}
text_id! {
    /// Id of a process that holds claims and leases.
    OwnerId
}
text_id! {
    /// Id of an admitted call until it is settled, released or presumed spent.
    LeaseId
}

/// Folder of blessed names in a runs directory, which no run has as its id.
pub const BASELINES_FOLDER: &str = "baselines";

impl RunId {
    /// Validates a run id of a user: 1 to 100 ASCII letters, digits, `.`, `_`, `-`, not starting
    /// with a dot or a hyphen, so that it is a valid file name on every system and no flag of a
    /// command; not `baselines`.
    pub fn parse(text: &str) -> Result<Self, InvalidRunId> {
        let fits = |character: char| character.is_ascii_alphanumeric() || "._-".contains(character);
        let valid = !text.is_empty()
            && text.len() <= 100
            && !text.starts_with(['.', '-'])
            && text.chars().all(fits)
            && text != BASELINES_FOLDER;
        if valid { Ok(Self(text.to_owned())) } else { Err(InvalidRunId(text.to_owned())) }
    }
}

impl JobId {
    /// The id of an item's repeat in a run: deterministic, so that planning twice creates no second
    /// job. The first 128 bits of SHA-256 over run id, item id and repeat, in hexadecimal.
    pub fn for_item(run: &RunId, item_id: &str, repeat: u32) -> Self {
        let mut hasher = Sha256::new();
        for part in [run.as_str(), item_id] {
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.update(repeat.to_be_bytes());
        let mut id = hex::encode(hasher.finalize());
        id.truncate(32);
        Self(id)
    }
}

impl OwnerId {
    /// A new random id.
    pub fn random() -> Self {
        Self(format!("{}-{:016x}", std::process::id(), rand::random::<u64>()))
    }
}

impl LeaseId {
    /// A new unique id. It begins with the time, so that ledgers which keep leases by id add new
    /// ones at one end.
    pub fn random() -> Self {
        let now = jiff::Timestamp::now().as_millisecond().unsigned_abs();
        let chance = rand::random::<u128>() >> 48;
        Self(format!("{now:012x}{chance:020x}"))
    }
}

/// A run id that cannot name a directory.
#[derive(Debug, thiserror::Error)]
#[error(
    "run id {0:?} is invalid: use 1 to 100 ASCII letters, digits, '.', '_' or '-', not starting with a dot or a hyphen; \
     'baselines' is reserved"
)]
pub struct InvalidRunId(String);

/// SHA-256 of some content; written as 64 lowercase hexadecimal digits.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of a content.
    pub fn from_content(content: &[u8]) -> Self {
        Self(Sha256::digest(content).into())
    }

    /// The digest of everything that a reader returns until its end.
    pub fn from_reader(reader: impl Read) -> io::Result<Self> {
        let mut reader = BufReader::with_capacity(64 << 10, reader);
        let mut hasher = Sha256::new();
        loop {
            let bytes = reader.fill_buf()?;
            if bytes.is_empty() {
                return Ok(Self(hasher.finalize().into()));
            }
            hasher.update(bytes);
            let length = bytes.len();
            reader.consume(length);
        }
    }

    /// A digest from its bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Prefix of the id that is sufficient for people to distinguish two.
    pub fn short(&self) -> String {
        self.to_string().chars().take(12).collect()
    }

    /// The digest as bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Digest({self})")
    }
}

/// Text that is not a SHA-256 digest.
#[derive(Debug, thiserror::Error)]
#[error("{0:?} is not a SHA-256 digest (64 hexadecimal digits)")]
pub struct InvalidDigest(String);

impl FromStr for Digest {
    type Err = InvalidDigest;

    fn from_str(text: &str) -> Result<Self, InvalidDigest> {
        let mut bytes = [0; 32];
        match hex::decode_to_slice(text, &mut bytes) {
            Ok(()) => Ok(Self(bytes)),
            Err(_) => Err(InvalidDigest(text.chars().take(80).collect())),
        }
    }
}

crate::serde_as_text::serde_as_text!(Digest);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lease_id_has_time_and_random_parts() {
        let now = || jiff::Timestamp::now().as_millisecond();
        let before = now();
        let (one, other) = (LeaseId::random(), LeaseId::random());
        let named = i64::from_str_radix(&one.as_str()[..12], 16).unwrap();
        assert!((before..=now()).contains(&named), "{one}");
        assert_ne!(one.as_str()[12..], other.as_str()[12..]);
        assert_eq!(one.as_str().len(), 32);
    }

    #[test]
    fn job_id_depends_on_exactly_its_parts() {
        let run = RunId::new("nightly");
        let job = JobId::for_item(&run, "button", 0);
        assert_eq!(job, JobId::for_item(&run, "button", 0));
        assert_ne!(job, JobId::for_item(&run, "button", 1));
        assert_ne!(job, JobId::for_item(&RunId::new("nightlyb"), "utton", 0));
        assert_eq!(job.as_str().len(), 32);
    }

    #[test]
    fn digest_round_trips_and_refuses_other_text() {
        let digest = Digest::from_content(b"juror");
        assert_eq!(digest.to_string().parse::<Digest>().unwrap(), digest);
        assert!("12".parse::<Digest>().is_err());
        assert!("é".repeat(32).parse::<Digest>().is_err());
        assert!("g".repeat(64).parse::<Digest>().is_err());
    }

    #[test]
    fn run_ids_are_valid_file_names() {
        assert!(RunId::parse("2026-11-21_nightly.1").is_ok());
        for bad in ["", "..", ".hidden", "-rf", "a/b", "a b", "é", "baselines"] {
            assert!(RunId::parse(bad).is_err(), "{bad}");
        }
    }
}
