//! The role that commits results to journals and reports runs.
//!
//! [`run`] is the role for one run, [`fleet`] for all runs of a fleet: both commit a result to
//! [`juror_journal`] before they acknowledge it. What is said of a run is computed from its
//! journal by [`juror_analysis`] and written by [`juror_report`].

pub mod fleet;
pub mod run;
pub mod run_journal;
