//! Runs that are killed at any moment, and resumed by their name alone.

mod kills;
mod semantics;
