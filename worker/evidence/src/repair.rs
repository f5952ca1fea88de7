//! Search for changes of a page that remove its differences, each verified by rendering it.

mod alignment;
mod areas;
mod best_trial;
mod box_growth;
mod changeable_length;
mod equivalent_repairs;
mod first_hypotheses;
mod gradient;
mod hypothesis;
mod hypothesis_queue;
mod images;
mod measured_outline;
mod measured_text;
mod missing;
mod outlines;
mod paint;
mod predicted_shifts;
mod refine;
mod regions_by_cause;
mod repair_search;
mod shadow;
mod shift_field;
mod spacing;
mod stretched_rows;
mod text_alignment;
mod text_styles;
mod visibility;

#[cfg(test)]
mod first_hypotheses_tests;
#[cfg(test)]
mod long_list_tests;
#[cfg(test)]
mod tests;

pub use repair_search::{RepairLimits, RepairSearch};
