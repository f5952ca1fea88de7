//! Types shared by all roles: items, jobs, rubrics, models, verdicts, outcomes and runs.
//!
//! This crate depends on no other crate of the workspace.

pub mod budget_label;
pub mod byte_order_mark;
pub mod contradiction;
pub mod error_chain;
pub mod event;
pub mod evidence;
pub mod file_identity;
pub mod finding;
pub mod id;
pub mod item;
pub mod job;
pub mod lane;
pub mod message_check;
pub mod model;
mod named_enum;
pub mod outcome;
pub mod reference;
pub mod rubric;
pub mod run;
mod serde_as_text;
pub mod shutdown;
pub mod similarity_signature;
pub mod stage;
pub mod suggestion;
#[cfg(feature = "test-record")]
pub mod test_record;
pub mod toml_problem;
pub mod unique_fields;
pub mod usage;
pub mod verdict;
pub mod wait_reason;

/// Schema version of every message and file.
pub const SCHEMA: u32 = 1;

/// True for the default value of a type, which JSON leaves out of some fields.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
