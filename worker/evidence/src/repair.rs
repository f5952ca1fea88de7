//! Search for changes of a page that remove its differences, each verified by rendering it.

mod areas;
mod changeable_length;
mod drawn_trial;
mod equivalent_repairs;
mod first_hypotheses;
mod gradient;
mod hypothesis;
mod hypothesis_queue;
mod missing;
mod paint;
mod refine;
mod regions_of_repairs;
mod repair_search;
mod shadow;
mod shift_field;
mod space_for_missing;

#[cfg(test)]
mod tests;

pub use repair_search::{RepairLimits, RepairSearch};
