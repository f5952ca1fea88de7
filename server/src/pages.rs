//! The dashboard: pages rendered on the server, which work without JavaScript.
//!
//! A script refreshes only the progress of active runs.

mod assets;
mod compare;
mod dataset_name;
mod error_page;
mod first_steps;
mod item;
mod layout;
mod links;
mod login;
mod newest_run;
mod overview;
mod pager;
mod query;
mod run;
mod run_choice;
mod run_summary;
mod runs;
mod select;
mod sorting;
mod start;
mod thumbnail;
mod trend;

pub use error_page::problems_as_pages;

use crate::{api::limit_duration, app_state::AppState};
use axum::{
    Router,
    middleware::from_fn,
    routing::{get, post},
};
use error_page::{PageError, run_named};
use layout::{NavigationPage, page};
use query::PageQuery;

pub fn routes() -> Router<AppState> {
    Router::new()
        .route("/", get(overview::show))
        .route("/runs", get(runs::show))
        .route("/runs/{run}", get(run::show))
        .route("/runs/{run}/cancel", post(run::cancel))
        .route("/runs/{run}/resume", post(run::resume))
        .route("/runs/{run}/items/{item}", get(item::show))
        .route("/runs/{run}/items/{item}/thumbnail", get(thumbnail::show))
        .route("/runs/{run}/thumbnail", get(thumbnail::show_run))
        .route("/compare", get(compare::show))
        .route("/trend", get(trend::show))
        .route("/start", get(start::show).post(start::submit))
        .route("/login", get(login::show))
        .route("/assets/{name}", get(assets::serve))
        .fallback(error_page::unknown)
        .layer(from_fn(limit_duration))
}

#[cfg(test)]
mod tests;
