//! How far the judge agrees with itself, where items were judged several times.

use super::anchors::Anchors;
use crate::html::layout::simulated;
use crate::sanitize::harmless;
use juror_analysis::{
    format::{counted, decimals, figure, grouped},
    metrics::Unit,
    repeats::{CriterionAgreement, Repeats},
    run_report::Report,
};
use maud::{Markup, html};

/// So many items are shown; report.json has them all.
const MAX: usize = 20;

/// The section, if items were judged several times.
pub(super) fn repeats(report: &Report, anchors: &Anchors<'_>) -> Markup {
    let Some(repeats) = &report.repeats else { return html! {} };
    let scale = report.rubric.scale;
    let points = Unit::Points { least: scale.min.into(), most: scale.max.into() };
    html! {
        section.card aria-labelledby="repeats" {
            h2 #repeats { "Does the judge repeat itself?" @if report.run.simulated { " " (simulated()) } }
            div.scroll tabindex="0" role="region" aria-label="Agreement of the judge with itself" {
                table.changes {
                    caption { span {
                        "Alpha is Krippendorff's: 1 where the judge repeats itself. Noise is the share of a single verdict's variance that is the judge's own; the deviation is around an item's mean."
                    } }
                    thead { tr {
                        th scope="col" { "Score" } th.n scope="col" { "Alpha" }
                        th.n scope="col" { "Noise" } th.n scope="col" { "Deviation" }
                    } }
                    tbody {
                        (line(&repeats.score, Unit::Share))
                        @for criterion in &repeats.criteria { (line(criterion, points)) }
                    }
                }
            }
            (items(repeats, anchors))
        }
    }
}

fn line(of: &CriterionAgreement, unit: Unit) -> Markup {
    let none = || "–".to_owned();
    let found = &of.agreement;
    let deviation = |value: f64| match unit {
        Unit::Share => figure(value, unit),
        _ => decimals(value, 2),
    };
    html! {
        tr {
            th scope="row" { bdi { (harmless(&of.title)) } }
            td.n { (found.alpha.map_or_else(none, |alpha| decimals(alpha, 2))) }
            td.n { (found.noise_share.map_or_else(none, |share| figure(share, Unit::Share))) }
            td.n { (found.noise_deviation.map_or_else(none, deviation)) }
        }
    }
}

fn items(repeats: &Repeats, anchors: &Anchors<'_>) -> Markup {
    let unsteady: Vec<_> = repeats.items.iter().filter(|item| item.deviation > 0.0).collect();
    let share = |value: f64| figure(value, Unit::Share);
    html! {
        p {
            "Verdicts differ on " (grouped(unsteady.len() as u64)) " of "
            (counted(repeats.items.len() as u64, "item")) "."
        }
        @if !unsteady.is_empty() {
            details {
                summary { "The items on which they differ most" }
                ul {
                    @for item in unsteady.iter().take(MAX) {
                        li {
                            (anchors.link(&item.id)) " " (share(item.mean)) " ± " (share(item.deviation))
                            span.faint { ", from " (share(item.low)) " to " (share(item.high)) }
                        }
                    }
                }
            }
        }
    }
}
