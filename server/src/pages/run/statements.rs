//! Common issues and strengths; each leads to the results of which it was said.

use crate::{pages::links, view::RunView};
use juror_analysis::{
    format::{counted, figure, grouped},
    issues::StatementGroup,
    metrics::Unit,
};
use juror_report::{html::simulated, phrasing::grouping_text, sanitize::harmless};
use maud::{Markup, html};

/// Common issues beside common strengths, at most so many of each; `address` is the run's page.
pub fn common(view: &RunView, address: &str, most: usize) -> Markup {
    let report = &view.report;
    if report.common_issues.is_empty() && report.common_strengths.is_empty() {
        return html! {};
    }
    html! {
        (list(view, ("Common issues", "issue"), &report.common_issues, address, most))
        (list(view, ("Common strengths", "strength"), &report.common_strengths, address, most))
    }
}

fn list(
    view: &RunView,
    (title, name): (&str, &str),
    groups: &[StatementGroup],
    address: &str,
    most: usize,
) -> Markup {
    let id = format!("common-{name}");
    html! {
        section.card aria-labelledby=(id) {
            h2 id=(id) { (title) @if view.report.run.simulated { " " (simulated()) } }
            @if groups.is_empty() { p.faint { "None." } }
            @if let Some(text) = grouping_text(groups) { p.faint.small { (text) } }
            ol.statements {
                @for group in groups.iter().take(most) {
                    li {
                        a href=(format!("{address}{}#items", links::query([(name, group.label.clone())]))) {
                            bdi { (harmless(&group.label)) }
                        }
                        " "
                        span.faint { (counted(group.count, "item")) ", " (figure(group.share, Unit::Share)) }
                        (bar(group.share))
                    }
                }
            }
            @if groups.len() > most {
                p.faint { a href=(address) { "and " (grouped((groups.len() - most) as u64)) " more" } }
            }
        }
    }
}

/// The share of the items, as a bar under the words that say it.
fn bar(share: f64) -> Markup {
    html! {
        svg.share viewBox="0 0 100 3" preserveAspectRatio="none" aria-hidden="true" {
            rect.track x="0" y="0" width="100" height="3" {}
            rect.value x="0" y="0" width=(format!("{:.1}", (share * 100.0).clamp(0.0, 100.0))) height="3" {}
        }
    }
}
