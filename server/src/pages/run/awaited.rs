//! A fleet's run of which nothing is here yet.

use crate::{
    access::Visitor,
    pages::frame::{Place, page},
};
use axum::{
    http::{HeaderName, StatusCode},
    response::{IntoResponse as _, Response},
};
use juror_aggregator::report::harmless::harmless;
use juror_common::id::RunId;
use maud::html;

/// Loaded again after so many seconds.
const AGAIN: (HeaderName, &str) = (HeaderName::from_static("refresh"), "3");

/// Says what it waits for, until the aggregator has written something of the run.
pub(super) fn show(visitor: Visitor, run: &RunId) -> Response {
    let name = harmless(run.as_str());
    let content = html! {
        h1 { "Run " bdi { (name) } " " span.chip.undecided { "on its way" } }
        div.card {
            p { "The fleet has this run. As soon as its first result is in, it is shown here; this page loads itself again." }
            p {
                "If nothing comes: does "
                code { "juror aggregate" } " write into this server's runs directory, and is there a "
                code { "juror worker" } "?"
            }
        }
    };
    let page = page(Some(visitor), &name, Place::Runs, &content);
    (StatusCode::ACCEPTED, [AGAIN], page).into_response()
}
