//! Credentials of object stores from the environment.

use super::profile::aws_profile;
use serde::Deserialize;
use std::{collections::BTreeMap, fmt};

/// Environment variables with credentials of object stores.
const VARIABLES: [&str; 16] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_REGION",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_EC2_METADATA_SERVICE_ENDPOINT",
    "AWS_ROLE_ARN",
    "AWS_ROLE_SESSION_NAME",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "GOOGLE_SERVICE_ACCOUNT_KEY",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "AZURE_STORAGE_ACCOUNT_NAME",
    "AZURE_STORAGE_ACCOUNT_KEY",
    "AZURE_STORAGE_SAS_TOKEN",
];

/// Source of the account for S3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum S3Account {
    /// Environment variables, or the profile that they name; anonymous without them.
    #[default]
    Environment,
    /// The role of the machine, the container or the pod.
    Instance,
}

/// Values of environment variables, which are never displayed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Credentials {
    values: BTreeMap<&'static str, String>,
    account: S3Account,
}

impl Credentials {
    /// Reads the variables; blank ones count as absent.
    pub fn gather(variable: impl Fn(&'static str) -> Option<String>) -> Self {
        let value = |name| variable(name).map(|value| value.trim().to_owned());
        let found = VARIABLES.iter().filter_map(|&name| Some((name, value(name)?)));
        let values = found.filter(|(_, value)| !value.is_empty()).collect();
        Self { values, account: S3Account::Environment }
    }

    /// Sets the source of S3 credentials.
    #[must_use]
    pub fn with_account(self, account: S3Account) -> Self {
        Self { account, ..self }
    }

    /// Sets the keys of a profile in AWS's shared credentials file; `None` if there is no such
    /// profile.
    pub fn with_profile(mut self, file: &str, name: &str) -> Option<Self> {
        for (key, value) in aws_profile(file, name)? {
            let variable = match key.as_str() {
                "aws_access_key_id" => "AWS_ACCESS_KEY_ID",
                "aws_secret_access_key" => "AWS_SECRET_ACCESS_KEY",
                "aws_session_token" => "AWS_SESSION_TOKEN",
                "region" => "AWS_REGION",
                _ => continue,
            };
            self.values.insert(variable, value);
        }
        Some(self)
    }

    /// True if the environment has keys for S3.
    pub fn has_s3_keys(&self) -> bool {
        self.get("AWS_ACCESS_KEY_ID").is_some()
    }

    pub(super) fn account(&self) -> S3Account {
        self.account
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.values.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_collected_and_never_shown() {
        let credentials = Credentials::gather(|name| match name {
            "AWS_ACCESS_KEY_ID" => Some(" id\n".to_owned()),
            "AWS_SECRET_ACCESS_KEY" => Some("secret".to_owned()),
            "AWS_SESSION_TOKEN" => Some(" ".to_owned()),
            _ => None,
        });
        assert_eq!(credentials.get("AWS_ACCESS_KEY_ID"), Some("id"));
        assert_eq!(credentials.get("AWS_SESSION_TOKEN"), None);
        let shown = format!("{credentials:?}");
        assert_eq!(shown, "[\"AWS_ACCESS_KEY_ID\", \"AWS_SECRET_ACCESS_KEY\"]");
        let file = "[night]\naws_access_key_id = other\nregion = eu-central-1\n";
        let profile = credentials.clone().with_profile(file, "night").unwrap();
        assert_eq!(profile.get("AWS_ACCESS_KEY_ID"), Some("other"));
        assert_eq!(profile.get("AWS_REGION"), Some("eu-central-1"));
        assert_eq!(credentials.with_profile(file, "day"), None);
    }
}
