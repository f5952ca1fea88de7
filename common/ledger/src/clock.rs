//! The time that limits and budgets go by.

use std::sync::Arc;

/// Tells the time, in milliseconds since 1970.
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;
