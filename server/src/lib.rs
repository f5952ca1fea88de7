//! The web door: an HTTP API and a dashboard over the runs directory.
//!
//! [`serve`] is the role. Everything that is shown is read from run directories by [`catalog`],
//! [`view`] and [`live`]; reading never starts paid work. What only the rest of the house can do
//! is behind two seams: a [`starter::Starter`] begins runs, and a [`showcase::Showcase`] opens the
//! files that runs judged.

pub mod access;
pub mod api;
pub mod catalog;
pub mod comparisons;
mod damage;
pub mod live;
pub mod pages;
pub mod problem;
pub mod router;
pub mod serve;
pub mod showcase;
pub mod site;
pub mod starter;
mod taken;
#[cfg(test)]
mod test_site;
pub mod turns;
pub mod view;
