//! A fleet's run of which nothing is here yet.

use crate::{
    access::Visitor,
    pages::layout::{NavigationPage, page},
};
use axum::{
    http::{HeaderName, StatusCode},
    response::{IntoResponse as _, Response},
};
use juror_analysis::format::{counted, grouped};
use juror_app::request::QueuedRun;
use juror_report::sanitize::harmless;
use maud::html;

/// Loaded again after so many seconds.
const AGAIN: (HeaderName, &str) = (HeaderName::from_static("refresh"), "3");

/// Says what it waits for, until the aggregator has written something of the run.
pub(super) fn show(visitor: Visitor, run: &QueuedRun) -> Response {
    let name = harmless(run.record.run_id.as_str());
    let (published, planned) = (grouped(run.published), counted(run.record.jobs(), "job"));
    let content = html! {
        h1 { "Run " bdi { (name) } " " span.chip.undecided { "on its way" } }
        div.card {
            p { "The fleet has this run: " (published) " of " (planned) " published so far. As soon as its first result is in, it is shown here; this page loads itself again." }
            p {
                "If nothing comes: does "
                code { "juror aggregate" } " write into this server's runs directory, and is there a "
                code { "juror worker" } "?"
            }
        }
    };
    let page = page(Some(visitor), &name, NavigationPage::Runs, &content);
    (StatusCode::ACCEPTED, [AGAIN], page).into_response()
}
