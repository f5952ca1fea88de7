//! Setup of runs, and the lifecycle of local runs.

pub mod inspection;
pub(crate) mod jobs_to_publish;
pub(crate) mod local_context;
pub mod local_run;
pub mod preflight;
pub mod run_setup;
pub mod run_setup_request;

mod execute_local_run;
mod judging_session;
mod local_worker;
mod open_local_run;
pub(crate) mod resume_input_changes;
mod sample_growth;
