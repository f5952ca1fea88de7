//! A run of this machine, from its request to its last result.

pub mod inspection;
pub mod jobs_to_publish;
pub mod lifecycle;
pub mod local_context;
pub mod preflight;
pub mod run_invocation;
pub mod run_setup;

mod changed_inputs;
mod execute;
mod judging_session;
mod local_worker;
mod opening;
mod recover;
mod sequential_sampling;
mod single_run;
