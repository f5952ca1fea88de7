//! The role that commits results to journals and reports runs.
//!
//! [`fleet`] is the role, for all runs of a fleet or for the only one of a process: a result is
//! committed to [`juror_journal`] before it is acknowledged. Reports are computed from the journal
//! by [`juror_analysis`] and written by a [`ReportWriter`](fleet::ReportWriter).

pub mod fleet;
pub mod run_journal;
