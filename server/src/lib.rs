//! An HTTP API and a dashboard over the runs directory.
//!
//! [`juror_app::catalog`], [`view`] and [`live`] read run directories; reading never starts paid
//! work. A [`juror_app::service::RunLauncher`] starts runs, and a [`juror_app::item_source::ItemSource`]
//! opens the judged files.

pub mod access;
pub mod api;
pub mod app_state;
pub mod comparisons;
pub mod live;
pub mod pages;
pub mod problem;
pub mod router;
pub mod serve;
#[cfg(test)]
mod test_site;
pub mod view;
