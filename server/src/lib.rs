//! An HTTP API and a dashboard over the runs directory.
//!
//! [`serve`] is the role. Everything that is shown is read from run directories by
//! [`juror_app::catalog`], [`view`] and [`live`]; reading never starts paid work. A
//! [`juror_app::service::RunLauncher`] begins runs, and a [`juror_app::items::ItemSource`] opens
//! the files that runs judged.

pub mod access;
pub mod api;
pub mod comparisons;
pub mod live;
pub mod pages;
pub mod problem;
pub mod router;
pub mod serve;
pub mod state;
#[cfg(test)]
mod test_site;
pub mod view;
