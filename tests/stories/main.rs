//! Stories told through the real command, each in a folder and with a simulator of its own.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may break off")]

mod answers;
mod bad_input;
mod budget;
mod cache;
mod commands;
mod demo;
mod doctor;
mod errors;
mod gates;
mod hostile;
mod judging;
mod limits;
mod own_programs;
mod reports;
mod resume;
mod signals;
mod trouble;
mod workshop;
