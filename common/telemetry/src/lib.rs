//! Observability of a process: metrics for Prometheus, health and readiness.
//!
//! Roles record on [`Metrics`]; no other crate uses Prometheus. Names, labels and meanings of all
//! metrics are in `docs/metrics.md`.

mod labels;
mod listener;
mod metric_registry;
mod metrics;
mod readiness;

pub use labels::{BudgetScope, CallCost, CallResult, EvidenceFinding, MessageKind, ShardEvent};
pub use listener::serve;
pub use metrics::{Metrics, Ongoing};
pub use readiness::{Condition, Readiness};

#[cfg(test)]
mod tests;
