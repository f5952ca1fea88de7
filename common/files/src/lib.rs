//! Files of items: local folders, objects in buckets, and the policy on allowed sources.

pub mod data_roots;
pub mod fetch_policy;
mod http_client;
pub mod kept_inputs;
pub mod objects;
pub mod render_cache;
mod settings;

pub use fetch_policy::InvalidFileSetting;
pub use http_client::http_client_builder;
pub use settings::FileSettings;
