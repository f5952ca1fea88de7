//! End-to-end tests of the real command, each with its own folder and simulator.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may break off"
)]

mod answers;
mod bad_input;
mod batches;
mod bless;
mod budget;
mod budget_history;
mod cache;
mod calibrate;
mod chaos;
mod commands;
mod compare;
mod compare_rules;
mod costs;
mod datasets;
mod demo;
mod doctor;
mod errors;
mod evidence;
mod first_steps;
mod fleet;
mod fleet_cap;
mod formats;
mod gates;
mod gateways;
mod harness;
mod history;
mod hostile;
mod item_attachments;
mod judge_tls;
mod judging;
mod kept_inputs;
mod label_budgets;
mod limits;
mod logs;
mod missing_output;
mod nightly;
mod other_servers;
mod outputs;
mod own_programs;
mod pauses;
mod providers;
mod prune;
mod remedies;
mod remote;
mod reports;
mod resume;
mod run_failures;
mod run_names;
mod sampling;
mod serve;
mod signals;
mod verdict_checks;
mod waiting;
