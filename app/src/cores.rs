//! The number of processor cores.

use std::thread::available_parallelism;

/// Number of cores that this process may use; one if it is unknown.
pub fn cores() -> usize {
    available_parallelism().map_or(1, usize::from)
}
