//! Reports from results, for people and programs.

mod calibrations;
mod comparisons;
mod evidence;
mod history;
mod summaries;
