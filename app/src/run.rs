//! A run of this machine, from its request to its last result.

pub mod inspection;
pub(crate) mod jobs_to_publish;
pub mod lifecycle;
pub(crate) mod local_context;
pub mod preflight;
pub mod run_invocation;
pub mod run_setup;

mod execute;
mod judging_session;
mod local_worker;
mod only_run_status;
mod opening;
mod recover;
mod resume_input_changes;
mod sequential_sampling;
