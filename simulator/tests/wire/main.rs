//! Tests of the simulator over real sockets.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may panic")]

mod answers;
mod batches;
mod client;
mod faults;
mod prompt_cache;
mod quirks;
