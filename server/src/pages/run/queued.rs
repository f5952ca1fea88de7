//! Page of a fleet's run without a run directory yet.

use crate::{
    access::Visitor,
    pages::layout::{NavigationPage, page},
};
use axum::{
    http::{HeaderName, StatusCode},
    response::{IntoResponse as _, Response},
};
use juror_analysis::format::{counted, grouped};
use juror_app::run_request::QueuedRun;
use juror_report::sanitize::sanitize;
use maud::html;

/// Header that reloads the page after three seconds.
const REFRESH: (HeaderName, &str) = (HeaderName::from_static("refresh"), "3");

/// Renders the page until the aggregator has written the first result.
pub(super) fn show(visitor: Visitor, run: &QueuedRun) -> Response {
    let name = sanitize(run.record.run_id.as_str());
    let (published, planned) = (grouped(run.published), counted(run.record.jobs(), "job"));
    let content = html! {
        h1 { "Run " bdi { (name) } " " span.chip.undecided { "queued" } }
        div.card {
            p { "The fleet has this run: " (published) " of " (planned) " published so far. It is shown here after its first result; this page reloads automatically." }
            p {
                "If it does not appear, check that "
                code { "juror aggregate" } " writes into this server's runs directory, and that a "
                code { "juror worker" } " runs."
            }
        }
    };
    let page = page(Some(visitor), &name, NavigationPage::Runs, &content);
    (StatusCode::ACCEPTED, [REFRESH], page).into_response()
}
