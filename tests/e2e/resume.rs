//! Runs that are killed at any moment and resumed by name.

mod kills;
mod semantics;
