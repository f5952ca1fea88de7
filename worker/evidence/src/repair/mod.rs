//! Changes of the page that take differences away, each proved by drawing it.

mod equivalents;
mod explain;
mod field;
mod hypothesis;
mod lever;
mod missing;
mod paint;
mod refine;
mod search;
mod seeds;
mod shadow;
mod spaces;

#[cfg(test)]
mod tests;

pub use search::{RepairLimits, RepairSearch};
