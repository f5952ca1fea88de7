//! `[files]`: what may be read, and how.

use crate::{fetch_policy::FetchPolicy, objects::S3Account};
use serde::Deserialize;
use std::path::PathBuf;
use url::Url;

/// `[files]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FileSettings {
    /// Folders that a dataset may name files in, beside its own.
    pub data_roots: Vec<PathBuf>,
    /// Hosts that files may be fetched from.
    pub hosts: Vec<String>,
    /// Names and addresses among them that are not public.
    pub private_hosts: Vec<String>,
    /// Fetches that each entry of `hosts` gets at most.
    pub fetches_per_second_per_host: u32,
    /// Time limit of one attempt to fetch a file, in seconds.
    pub fetch_timeout_seconds: u64,
    /// Buckets, and prefixes in them, that files may be fetched from.
    pub buckets: Vec<String>,
    /// Endpoint of S3; Amazon's own if not given.
    pub s3_endpoint: Option<String>,
    /// The region of the S3 buckets.
    pub s3_region: Option<String>,
    /// Source of the account for S3.
    pub s3_account: S3Account,
}

/// A value of `[files]` that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("setting {key} is {value}: {remedy}")]
pub struct InvalidFileSetting {
    /// The setting, with its section.
    pub key: &'static str,
    /// Its value.
    pub value: String,
    /// Entry to give.
    pub remedy: &'static str,
}

impl InvalidFileSetting {
    fn new(key: &'static str, value: impl ToString, remedy: &'static str) -> Self {
        Self { key, value: value.to_string(), remedy }
    }
}

impl FileSettings {
    /// The hosts and buckets that files may be read from.
    pub fn allowed(&self) -> Result<FetchPolicy, InvalidFileSetting> {
        let parsed = FetchPolicy::parse(&self.hosts, &self.private_hosts, &self.buckets);
        parsed.map_err(|(key, entry)| {
            let remedy = match key {
                "files.hosts" => {
                    "write host, *.host or host:port for HTTPS, and http://host for plain HTTP"
                }
                "files.private_hosts" => "write a host's name or an IP address, without a port",
                _ => "write s3://bucket or s3://bucket/prefix",
            };
            InvalidFileSetting::new(key, format!("{entry:?}"), remedy)
        })
    }

    /// Refuses the first value that cannot be used.
    pub fn check(&self) -> Result<(), InvalidFileSetting> {
        self.allowed()?;
        for (key, value) in [
            ("files.fetches_per_second_per_host", u64::from(self.fetches_per_second_per_host)),
            ("files.fetch_timeout_seconds", self.fetch_timeout_seconds),
        ] {
            if value == 0 {
                return Err(InvalidFileSetting::new(key, 0, "give at least 1"));
            }
        }
        match &self.s3_endpoint {
            Some(endpoint) if !is_endpoint(endpoint) => {
                // What is shown could hold a password.
                let remedy = "write https://host or http://host:port, and nothing more";
                Err(InvalidFileSetting::new("files.s3_endpoint", "not usable", remedy))
            }
            _ => Ok(()),
        }
    }
}

fn is_endpoint(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| {
        ["http", "https"].contains(&url.scheme())
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
    })
}
