//! An HTTP API and a dashboard over the runs directory.
//!
//! [`serve`] is the role. Everything that is shown is read from run directories by [`catalog`],
//! [`view`] and [`live`]; reading never starts paid work. Two traits reach the
//! rest of the program: a [`launcher::RunLauncher`] begins runs, and a [`item_source::ItemSource`] opens the
//! files that runs judged.

pub mod access;
pub mod api;
pub mod catalog;
pub mod comparisons;
mod damage;
pub mod item_source;
pub mod launcher;
pub mod live;
pub mod pages;
pub mod problem;
pub mod router;
pub mod serve;
mod stall_timeout;
pub mod state;
#[cfg(test)]
mod test_site;
pub mod view;
pub mod work_limiter;
