//! Time source of limits and budgets.

use std::sync::Arc;

/// A function that returns the time, in milliseconds since 1970.
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;
