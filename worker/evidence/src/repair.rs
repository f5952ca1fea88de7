//! Search for changes of a page that remove its differences, each verified by rendering it.

mod alignment;
mod areas;
mod equivalents;
mod explain;
mod field;
mod gradient;
mod hypothesis;
mod images;
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
