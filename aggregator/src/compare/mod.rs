//! Two runs of the same items: did it get worse, where, and how sure is that? Pure.

mod difference;
mod holm;
mod mcnemar;
mod power;

pub use difference::{Difference, Pairs};
pub use holm::holm;
pub use mcnemar::PassTable;

#[cfg(test)]
mod expected_tests;
