//! Invalid values of `[files]`.

/// An invalid value of `[files]`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("setting {key} is {value}: {remedy}")]
pub struct InvalidFileSetting {
    /// The setting, with its section.
    pub key: &'static str,
    /// Value.
    pub value: String,
    /// The remedy.
    pub remedy: &'static str,
}

impl InvalidFileSetting {
    pub(crate) fn new(key: &'static str, value: impl ToString, remedy: &'static str) -> Self {
        Self { key, value: value.to_string(), remedy }
    }
}
