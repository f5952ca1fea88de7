//! `[files]`: allowed sources of files.

use crate::{
    fetch_policy::{FetchPolicy, InvalidFileSetting},
    objects::S3Account,
};
use serde::Deserialize;
use std::path::PathBuf;
use url::Url;

/// `[files]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FileSettings {
    /// Folders in which a dataset's files may be, in addition to its own.
    pub data_roots: Vec<PathBuf>,
    /// Hosts from which files may be fetched.
    pub hosts: Vec<String>,
    /// Names and addresses among them that are not public.
    pub private_hosts: Vec<String>,
    /// Maximum number of fetches per second for each entry of `hosts`.
    pub fetches_per_second_per_host: u32,
    /// Time limit of one attempt to fetch a file, in seconds.
    pub fetch_timeout_seconds: u64,
    /// Buckets, and prefixes in them, from which files may be fetched.
    pub buckets: Vec<String>,
    /// Endpoint of S3; Amazon's own if not given.
    pub s3_endpoint: Option<String>,
    /// Region of the S3 buckets.
    pub s3_region: Option<String>,
    /// Source of the account for S3.
    pub s3_account: S3Account,
}

impl FileSettings {
    /// The allowed hosts and buckets.
    pub fn allowed(&self) -> Result<FetchPolicy, InvalidFileSetting> {
        FetchPolicy::parse(&self.hosts, &self.private_hosts, &self.buckets)
    }

    /// Refuses the first invalid value.
    pub fn check(&self) -> Result<(), InvalidFileSetting> {
        self.allowed()?;
        for (key, value) in [
            ("files.fetches_per_second_per_host", u64::from(self.fetches_per_second_per_host)),
            ("files.fetch_timeout_seconds", self.fetch_timeout_seconds),
        ] {
            if value == 0 {
                return Err(InvalidFileSetting::new(key, 0, "use at least 1"));
            }
        }
        match &self.s3_endpoint {
            Some(endpoint) if !is_endpoint(endpoint) => {
                // The value could contain a password.
                let remedy = "use https://host or http://host:port, without path or user";
                Err(InvalidFileSetting::new("files.s3_endpoint", "invalid", remedy))
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
