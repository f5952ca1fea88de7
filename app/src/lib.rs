//! Settings, composition, and operations on runs, for the command line and the server.

pub mod attachments;
pub mod batch_lane;
pub mod bless;
pub mod budgets;
pub mod catalog;
pub mod credentials;
pub mod environment;
pub mod error;
pub mod estimate;
pub mod fleet;
pub mod items;
pub mod judge;
pub mod ledger_pool;
pub mod leftover_spending;
pub mod local_ledger;
pub mod named_run;
pub mod protected_files;
pub mod prune;
pub mod rendering;
pub mod reporting;
pub mod request;
pub mod rubrics;
pub mod run;
pub mod selected_ledger;
pub mod service;
pub mod settings;
pub mod work_limiter;
pub mod worker_resources;

mod journal_damage;
