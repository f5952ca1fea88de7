//! The role that commits results to journals and reports runs.
//!
//! [`aggregator_role`] is the role, for all runs of a fleet or for a local run: a result is
//! committed to [`juror_journal`] before it is acknowledged. Reports are computed from the journal
//! by [`juror_analysis`] and written by a [`ReportWriter`](aggregator_role::ReportWriter).

pub mod aggregator_role;
pub mod run_journal;
