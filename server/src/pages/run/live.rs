//! How a run goes that goes on: as it stood when the page was made, kept fresh by the script.

use crate::view::RunView;
use juror_aggregator::report::{
    figures::{dollars, grouped},
    harmless::harmless,
    html::simulated,
};
use maud::{Markup, html};

/// The section.
pub fn section(view: &RunView) -> Markup {
    let (coverage, cost) = (&view.report.coverage, &view.report.cost);
    let done = coverage.planned.saturating_sub(coverage.pending);
    let run = &view.report.run;
    html! {
        section.card #live aria-labelledby="live-title" data-events=(format!("/api/v1/runs/{}/events", run.id)) {
            h2 #live-title { "This run goes on" @if run.simulated { " " (simulated()) } }
            progress #live-bar max=(coverage.planned.max(1)) value=(done) aria-labelledby="live-title" {}
            dl.live {
                div { dt { "Done" } dd #live-done { (grouped(done)) " of " (grouped(coverage.planned)) } }
                div { dt { "Not scored" } dd #live-unscored { (grouped(done - coverage.scored)) } }
                @if run.judge.is_some() {
                    div {
                        dt { "Spent" }
                        dd #live-spent {
                            (dollars(cost.total_usd))
                            @if let Some(budget) = view.files.record().budget_usd { " of " (dollars(budget)) }
                        }
                    }
                    div { dt { "In flight, at most" } dd #live-flight { (dollars(cost.in_flight_usd)) } }
                }
                div { dt { "Rate" } dd #live-rate { "–" } }
                div { dt { "Time left" } dd #live-left { "–" } }
            }
            noscript { p.notice { "Without script this page does not follow the run by itself: load it again to see how far it is." } }
            p.notice #live-lost hidden { "The connection is lost; the page tries to take it up again." }
            h3 #latest-title hidden { "Last results" }
            ul.latest #latest aria-labelledby="latest-title" data-run=(harmless(run.id.as_str())) {}
        }
    }
}
