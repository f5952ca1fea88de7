//! Settings, composition, and what can be done with a run.

pub mod settings;
