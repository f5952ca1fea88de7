//! Progress of an active run, refreshed by a script.

use crate::view::RunView;
use juror_analysis::format::{dollars, grouped};
use juror_report::{html::simulated, phrasing::spent_text, sanitize::sanitize};
use maud::{Markup, html};

/// Section of the progress.
pub fn section(view: &RunView, is_cancelling: bool) -> Markup {
    let (coverage, cost) = (&view.report.coverage, &view.report.cost);
    let done = coverage.planned.saturating_sub(coverage.pending);
    let run = &view.report.run;
    html! {
        section.card #live aria-labelledby="live-title" data-events=(format!("/api/v1/runs/{}/events", run.id)) {
            h2 #live-title {
                (if is_cancelling { "Cancelling" } else { "Running" }) @if run.simulated { " " (simulated()) }
            }
            div data-refresh="live" {
            @if is_cancelling {
                p.notice { "No more jobs start; calls in flight are being finished. The run can be resumed afterwards." }
            }
            progress #live-bar max=(coverage.planned.max(1)) value=(done) aria-labelledby="live-title" {}
            dl.live {
                div { dt { "Done" } dd #live-done { (grouped(done)) " of " (grouped(coverage.planned)) } }
                div { dt { "Not scored" } dd #live-unscored { (grouped(done - coverage.scored)) } }
                @if run.judge.is_some() {
                    div {
                        dt { "Spent" }
                        dd #live-spent {
                            (spent_text(cost.total_usd, view.files.record().budget_usd))
                        }
                    }
                    div { dt { "In flight, at most" } dd #live-flight { (dollars(cost.in_flight_usd)) } }
                }
                div { dt { "Rate" } dd #live-rate { "–" } }
                div { dt { "Time left" } dd #live-left { "–" } }
            }
            }
            noscript { p.notice { "Without JavaScript this page does not refresh: reload it to see the progress." } }
            p.notice #live-lost hidden { "Disconnected from the server; reconnecting." }
            h3 #latest-title hidden { "Last results" }
            ul.latest #latest aria-labelledby="latest-title" data-run=(sanitize(run.id.as_str())) {}
        }
    }
}
