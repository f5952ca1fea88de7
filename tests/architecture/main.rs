//! The rules of the workspace: which crate may depend on which, which library is used where, and
//! how things are named.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may break off"
)]

mod contents;
mod dependency_cycles;
mod item_order;
mod layers;
mod names;
mod sources;
