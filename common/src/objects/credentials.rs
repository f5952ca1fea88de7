//! The accounts of object stores, as the environment gives them.

use std::{collections::BTreeMap, fmt};

/// Every variable that an object store takes an account from.
const VARIABLES: [&str; 9] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_REGION",
    "GOOGLE_SERVICE_ACCOUNT_KEY",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "AZURE_STORAGE_ACCOUNT_NAME",
    "AZURE_STORAGE_ACCOUNT_KEY",
    "AZURE_STORAGE_SAS_TOKEN",
];

/// Values of variables of the environment, which are never shown.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Credentials(BTreeMap<&'static str, String>);

impl Credentials {
    /// Asks for each variable that matters; blank ones count as absent.
    pub fn gather(variable: impl Fn(&'static str) -> Option<String>) -> Self {
        let value = |name| variable(name).map(|value| value.trim().to_owned());
        let found = VARIABLES.iter().filter_map(|&name| Some((name, value(name)?)));
        Self(found.filter(|(_, value)| !value.is_empty()).collect())
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_gathered_and_never_shown() {
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
    }
}
