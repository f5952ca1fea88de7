//! Common issues and strengths, with their items.

use super::anchors::Anchors;
use crate::html::layout::simulated;
use crate::{phrasing::grouping_text, sanitize::harmless};
use juror_analysis::{
    format::{counted, figure, grouped},
    issues::StatementGroup,
    metrics::Unit,
    run_report::Report,
};
use maud::{Markup, html};

/// So many groups of each are listed, and so many items of a group; report.json has them all.
const MAX_GROUPS: usize = 12;
const MAX_ITEMS: usize = 50;

/// Common issues beside common strengths.
pub(super) fn common(report: &Report, anchors: &Anchors<'_>) -> Markup {
    if report.common_issues.is_empty() && report.common_strengths.is_empty() {
        return html! {};
    }
    html! {
        div.cards {
            (list(report, "Common issues", "issues", &report.common_issues, anchors))
            (list(report, "Common strengths", "strengths", &report.common_strengths, anchors))
        }
    }
}

fn list(
    report: &Report,
    title: &str,
    id: &str,
    groups: &[StatementGroup],
    anchors: &Anchors<'_>,
) -> Markup {
    html! {
        section.card aria-labelledby=(id) {
            h2 id=(id) { (title) @if report.run.simulated { " " (simulated()) } }
            @if groups.is_empty() { p.faint { "None." } }
            @if let Some(text) = grouping_text(groups) { p.faint.small { (text) } }
            ol.statements {
                @for group in groups.iter().take(MAX_GROUPS) {
                    li {
                        details {
                            summary {
                                bdi { (harmless(&group.label)) } " "
                                span.faint {
                                    (counted(group.count, "item")) ", " (figure(group.share, Unit::Share))
                                }
                            }
                            @for example in &group.examples { p.example { bdi { (harmless(example)) } } }
                            @if !group.worst.is_empty() && group.worst.len() < group.items.len() {
                                p.ids {
                                    "Lowest scores: "
                                    @for item in &group.worst { (anchors.link(report.items.id(*item))) " " }
                                }
                            }
                            p.ids {
                                @for item in group.items.iter().take(MAX_ITEMS) {
                                    (anchors.link(report.items.id(*item))) " "
                                }
                                (and_more(group.items.len(), MAX_ITEMS))
                            }
                        }
                    }
                }
            }
            (and_more(groups.len(), MAX_GROUPS))
        }
    }
}

fn and_more(all: usize, shown: usize) -> Markup {
    let more = all.saturating_sub(shown) as u64;
    html! {
        @if more > 0 { span.faint { "and " (grouped(more)) " more, in report.json" } }
    }
}
