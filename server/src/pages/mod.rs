//! The dashboard: pages that are made here, readable without script.
//!
//! Every page is made anew from what is in memory; only the place where a running run goes on is
//! kept fresh by the script.

mod assets;
mod compare;
mod dataset;
mod frame;
mod item;
mod links;
mod login;
mod overview;
mod run;
mod runs;
mod start;
mod thumbnail;
mod trend;
mod trouble;
mod wishes;

pub use trouble::problems_as_pages;

use crate::{api::patiently, site::Site};
use axum::{
    Router,
    middleware::from_fn,
    routing::{get, post},
};

/// All of its routes.
pub fn routes() -> Router<Site> {
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
        .route("/start", get(start::show).post(start::asked))
        .route("/login", get(login::show))
        .route("/assets/{name}", get(assets::serve))
        .fallback(trouble::unknown)
        .layer(from_fn(patiently))
}

#[cfg(test)]
mod tests;
