//! Stories told through the real command, each in a folder and with a simulator of its own.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may break off")]

mod answers;
mod bad_input;
mod budget;
mod cache;
mod demo;
mod errors;
mod hostile;
mod limits;
mod resume;
mod signals;
mod trouble;
mod workshop;
