//! Search for changes of a page that remove its differences, each verified by rendering it.

mod alignment;
mod areas;
mod changeable_length;
mod equivalents;
mod evidence_with_repairs;
mod first_hypotheses;
mod gradient;
mod hypothesis;
mod images;
mod missing;
mod paint;
mod refine;
mod search;
mod shadow;
mod shift_field;
mod spaces;

#[cfg(test)]
mod tests;

pub use search::{RepairLimits, RepairSearch};
