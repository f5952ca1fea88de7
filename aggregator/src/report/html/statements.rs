//! What the judge often found wrong and right, with the items.

use super::{frame::simulated, survey::Survey};
use crate::{
    issues::StatementGroup,
    metrics::Unit,
    report::{
        Report,
        figures::{counted, figure, grouped},
        harmless::harmless,
    },
};
use maud::{Markup, html};
use std::collections::HashMap;

/// So many groups of each are listed, and so many items of a group; report.json has them all.
const MOST_GROUPS: usize = 12;
const MOST_ITEMS: usize = 50;

/// Common issues beside common strengths.
pub(super) fn common(report: &Report, survey: &Survey) -> Markup {
    if report.common_issues.is_empty() && report.common_strengths.is_empty() {
        return html! {};
    }
    let anchors = anchors(report, survey);
    html! {
        div.cards {
            (list(report, "Common issues", "issues", &report.common_issues, &anchors))
            (list(report, "Common strengths", "strengths", &report.common_strengths, &anchors))
        }
    }
}

/// Items that are shown in full, by number, and where.
fn anchors(report: &Report, survey: &Survey) -> HashMap<u32, usize> {
    let numbered = survey.in_full().iter().enumerate().rev();
    numbered.filter_map(|(number, place)| Some((report.items.number_at(*place)?, number))).collect()
}

fn list(
    report: &Report,
    title: &str,
    id: &str,
    groups: &[StatementGroup],
    anchors: &HashMap<u32, usize>,
) -> Markup {
    html! {
        section.card aria-labelledby=(id) {
            h2 id=(id) { (title) @if report.run.simulated { " " (simulated()) } }
            @if groups.is_empty() { p.faint { "None." } }
            ol.statements {
                @for group in groups.iter().take(MOST_GROUPS) {
                    li {
                        details {
                            summary {
                                bdi { (harmless(&group.label)) } " "
                                span.faint {
                                    (counted(group.count, "item")) ", " (figure(group.share, Unit::Share))
                                }
                            }
                            p.ids {
                                @for item in group.items.iter().take(MOST_ITEMS) {
                                    (item_link(report, *item, anchors)) " "
                                }
                                (and_more(group.items.len(), MOST_ITEMS))
                            }
                        }
                    }
                }
            }
            (and_more(groups.len(), MOST_GROUPS))
        }
    }
}

fn item_link(report: &Report, item: u32, anchors: &HashMap<u32, usize>) -> Markup {
    let id = harmless(report.items.id(item));
    html! {
        @match anchors.get(&item) {
            Some(number) => { a href=(format!("#i{number}")) { bdi { (id) } } }
            None => { bdi { (id) } }
        }
    }
}

fn and_more(all: usize, shown: usize) -> Markup {
    let more = all.saturating_sub(shown) as u64;
    html! {
        @if more > 0 { span.faint { "and " (grouped(more)) " more, in report.json" } }
    }
}
