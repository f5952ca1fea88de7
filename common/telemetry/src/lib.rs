//! Observability of a process: metrics for Prometheus, health and readiness.
//!
//! Roles record on [`Metrics`]; no other crate uses Prometheus. Names, labels and meanings of all
//! metrics are in `docs/metrics.md`.

mod listener;
mod metric_definitions;
mod metric_labels;
mod readiness;
mod recorder;

pub use listener::serve;
pub use metric_labels::{
    BudgetScope, CallCost, CallResult, EvidenceFinding, MessageKind, ShardEvent,
};
pub use readiness::{Condition, Readiness};
pub use recorder::{Metrics, Ongoing};

#[cfg(test)]
mod tests;
