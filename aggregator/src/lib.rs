//! Results to a run's metrics, common issues, gates and reports.
//!
//! [`run`] is the role for one run: it commits results to the [`journal`] and acknowledges them;
//! [`fleet`] is the role for all runs of a fleet. Everything
//! that is said of a run is computed from the journal alone: [`fold`] decides which result of a
//! job counts, [`summary`] reads those once in flat memory, and [`report`] renders.

pub mod calibration;
mod charges;
pub mod compare;
pub mod fleet;
pub mod fold;
pub mod gate;
pub mod history;
pub mod issues;
pub mod items;
pub mod journal;
pub mod likely_clusters;
pub mod metrics;
mod random;
pub mod repeats;
mod replace_file;
pub mod report;
pub mod run;
pub mod summary;
#[cfg(test)]
mod test_results;
