//! Layers of settings below and above a command's flags.

use super::{Layer, Settings, SettingsError};
use crate::environment::Environment;

/// Layers of settings other than a command's own flags, and a snapshot of the environment.
#[derive(Clone, Debug, Default)]
pub struct BaseLayers {
    /// File and environment.
    below: Layer,
    /// Global flags.
    above: Layer,
    environment: Environment,
}

impl BaseLayers {
    /// Layers `below` and `above` a command's flags, and the environment that settings may name.
    pub fn new(below: Layer, above: Layer, environment: Environment) -> Self {
        Self { below, above, environment }
    }

    /// Resolves all layers: `flags` over the environment over the settings file over the defaults.
    ///
    /// # Errors
    /// An invalid value.
    pub fn resolve(&self, flags: Layer) -> Result<Settings, SettingsError> {
        Settings::resolve(&[self.below.clone(), flags, self.above.clone()])
    }

    /// The environment's variables.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }
}
