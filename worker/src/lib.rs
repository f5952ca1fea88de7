//! One job to one result. [`evaluate`] is one job's life, top to bottom; [`run`] is the role.

pub mod billing;
pub mod bounds;
pub mod ceiling;
pub mod company;
pub mod concurrency;
pub mod context;
pub mod estimate;
pub mod evaluate;
pub mod fleet;
pub mod image;
pub mod inspect;
pub mod interruption;
mod judging;
pub mod load;
pub mod patient;
pub mod prompt;
mod question;
mod record;
pub mod reply;
mod retry;
pub mod run;
pub mod sources;
pub mod stages;
mod telemetry;
pub mod token_scale;
pub mod vision;
