//! Files of items: local folders, objects in buckets, and the policy on allowed sources.

pub mod data_roots;
pub mod fetch_policy;
pub mod kept_inputs;
pub mod kept_renders;
pub mod objects;
mod settings;

pub use settings::{FileSettings, InvalidFileSetting};
