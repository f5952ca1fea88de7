//! Reports from results, as people and programs read them.

mod calibrations;
mod comparisons;
mod evidence;
mod history;
mod summaries;
