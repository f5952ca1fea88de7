//! Settings beside a command's own flags.

use super::{Layer, Settings, SettingsError};
use crate::environment::Environment;

/// Sources of settings beside a command's own flags, as they were when they were read.
#[derive(Clone, Debug, Default)]
pub struct BaseLayers {
    /// File and environment.
    below: Vec<Layer>,
    /// The flags that every command takes.
    above: Vec<Layer>,
    environment: Environment,
}

impl BaseLayers {
    /// Layers `below` and `above` a command's flags, and the environment that settings may name.
    pub fn new(below: Vec<Layer>, above: Vec<Layer>, environment: Environment) -> Self {
        Self { below, above, environment }
    }

    /// Settles all layers: `flags` over the environment over the settings file over the defaults.
    ///
    /// # Errors
    /// A value that makes no sense.
    pub fn settle(&self, flags: Vec<Layer>) -> Result<Settings, SettingsError> {
        Settings::resolve(&[self.below.clone(), flags, self.above.clone()].concat())
    }

    /// The environment's variables.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }
}
