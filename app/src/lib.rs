//! Settings, composition, and operations on runs, for the command line and the server.

pub mod attachments;
mod batch_resources;
pub mod bless;
pub mod budgets;
pub mod cancel;
mod credentials;
pub mod environment;
pub mod error;
pub mod estimate;
pub mod fleet;
pub mod item_source;
pub mod judge;
pub mod ledger_pool;
pub mod local_ledger;
pub mod protected_files;
pub mod prune;
pub mod recorded_settings;
pub mod rendering;
pub mod reporting;
mod reused_run_name;
pub mod rubrics;
pub mod run;
pub mod run_catalog;
pub mod run_request;
pub mod selected_ledger;
pub mod service;
pub mod settings;
pub mod work_limiter;
pub mod worker_resources;

mod cores;
mod journal_damage;
