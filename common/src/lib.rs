//! The nouns of Juror, and its seams to queue, admission and store with their adapters.
//!
//! Nothing here knows a role: producer, worker, aggregator and server stand above this crate and
//! speak to each other only in the types that it names.

pub mod admission;
pub mod allowed;
pub mod causes;
pub mod event;
pub mod file_identity;
pub mod files;
pub mod id;
pub mod item;
pub mod job;
pub mod kept_inputs;
pub mod model;
pub mod objects;
pub mod outcome;
pub mod queue;
pub mod redis;
pub mod reference;
pub mod rubric;
pub mod run;
pub mod settings;
pub mod shutdown;
pub mod signature;
pub mod sqlite;
pub mod stage;
pub mod store;
pub mod telemetry;
pub mod tls;
pub mod usage;
pub mod verdict;

/// The version that every message and file carries as `schema`.
pub const SCHEMA: u32 = 1;
