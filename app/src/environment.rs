//! Environment variables.

use std::{collections::BTreeMap, ffi::OsString, fmt, sync::Arc};

/// Snapshot of the environment variables, without those that are not UTF-8.
#[derive(Clone, Default)]
pub struct Environment(Arc<BTreeMap<String, String>>);

impl Environment {
    /// A snapshot of these variables.
    pub fn new(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let text = |(name, value): (OsString, OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self(Arc::new(variables.into_iter().filter_map(text).collect()))
    }

    /// The value of a variable, if it is set.
    pub fn variable(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }

    /// The value of a variable that is more than white space.
    pub fn filled(&self, name: &str) -> Option<String> {
        self.variable(name).filter(|value| !value.trim().is_empty())
    }
}

impl fmt::Debug for Environment {
    /// Formats names only, since values may be keys.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.0.keys()).finish()
    }
}
