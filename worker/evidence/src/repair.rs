//! Search for changes of a page that remove its differences, each verified by rendering it.

mod areas;
mod changeable_length;
mod equivalent_repairs;
mod first_hypotheses;
mod gradient;
mod hypothesis;
mod hypothesis_queue;
mod missing;
mod refine;
mod repair_search;
mod shadow;
mod shift_field;

#[cfg(test)]
mod tests;

pub use repair_search::{RepairLimits, RepairSearch};
