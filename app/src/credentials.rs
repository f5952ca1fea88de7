//! Credentials of object stores.

use crate::{environment::Environment, error::AppError};
use juror_files::{
    FileSettings,
    objects::{Credentials, S3Account},
};
use std::path::{Path, PathBuf};

/// Credentials of object stores, from the environment, or from its profile (`AWS_PROFILE`) if it
/// has no keys. The profile is read only if `read_profile` is true.
pub fn credentials(
    files: &FileSettings,
    environment: &Environment,
    read_profile: bool,
) -> Result<Credentials, AppError> {
    let variable = |name: &str| environment.filled(name);
    let credentials = Credentials::gather(variable).with_account(files.s3_account);
    let Some(profile) = variable("AWS_PROFILE").filter(|_| !credentials.has_s3_keys()) else {
        return Ok(credentials);
    };
    if files.s3_account == S3Account::Instance || !read_profile {
        return Ok(credentials);
    }
    let own = || variable("HOME").map(|home| Path::new(&home).join(".aws/credentials"));
    let path = variable("AWS_SHARED_CREDENTIALS_FILE").map(PathBuf::from).or_else(own);
    let path = path.unwrap_or_else(|| PathBuf::from(".aws/credentials"));
    let shown = path.display();
    let text = std::fs::read_to_string(&path).map_err(|error| {
        AppError::invalid(format!(
            "profile {profile:?} of AWS_PROFILE: {shown} cannot be read: {error}"
        ))
    })?;
    credentials.with_profile(&text, &profile).ok_or_else(|| {
        AppError::invalid(format!("AWS_PROFILE is {profile:?}, and {shown} has no such profile"))
    })
}
