//! An HTTP API and a dashboard over the runs directory.
//!
//! [`juror_app::run_catalog`], `view` and `live` read run directories; reading never starts paid
//! work. A [`juror_app::service::RunLauncher`] starts runs, and a [`juror_app::item_source::ItemSource`]
//! opens the judged files.

pub mod access;
mod api;
pub mod app_state;
mod comparisons;
mod live;
mod pages;
mod problem;
mod published;
pub mod router;
pub mod serve;
#[cfg(test)]
mod test_site;
mod view;
