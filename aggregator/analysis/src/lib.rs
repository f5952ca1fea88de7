//! Analysis of a run's results: [`fold`] selects the current result of each job, [`compute_report`]
//! reads those once in constant memory.

mod bill_warnings;
pub mod calibration;
mod cluster_names;
pub mod compare_runs;
pub mod comparison;
pub mod compute_report;
mod distinct_names;
pub mod evidence_summary;
pub mod fold;
pub mod format;
pub mod gate;
pub mod history;
pub mod issues;
pub mod item_index;
pub mod item_row;
mod judge_settings;
mod judged_items;
mod likely_clusters;
pub mod metrics;
mod missing_stage_data;
mod random;
mod renderers;
pub mod repeats;
mod results_by_item;
pub mod run_facts;
pub mod run_report;
mod run_warnings;
pub mod sequential_sampling;
pub mod stability;
#[cfg(any(test, feature = "test-fixtures"))]
pub mod test_fixtures;
mod verdict_checks;
