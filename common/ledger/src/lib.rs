//! Admission of calls within limits and budgets, claims, finished jobs and the reply cache.
//!
//! [`admission`], [`budgets`], [`job_store`] and [`batches`] are the traits and their rules;
//! [`sqlite`] implements them for one machine, [`redis`] for a fleet.

pub mod admission;
pub mod batches;
pub mod budgets;
mod clock;
pub mod error;
pub mod job_store;
mod json;
pub mod redis;
pub mod sqlite;
#[cfg(test)]
mod test_requests;
