//! A run of this machine, from its request to its last result.

pub mod inspection;
pub mod jobs_to_publish;
pub mod lifecycle;
pub mod local_context;
pub mod ready;
pub mod run_request;
pub mod session;

mod execute;
mod local_worker;
mod looks;
mod opening;
mod recover;
mod run_session;
mod single_run;
