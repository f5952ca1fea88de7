//! Distributions of the scores of a run.

use crate::view::{ColumnKind, RunView};
use juror_analysis::format::counted;
use juror_report::{
    html::{histogram, simulated},
    sanitize::harmless,
};
use maud::{Markup, html};

/// Maximum number of bars.
const MAX_BARS: u32 = 20;

/// Histograms of the total score and of each criterion or group; empty without a verdict.
pub fn distributions(view: &RunView) -> Markup {
    let rows = || (0..).map_while(|place| view.row(place));
    let mut tenths = [0_u64; 10];
    for score in rows().filter_map(|row| row.score) {
        if let Some(count) = tenths.get_mut((score * 10.0).clamp(0.0, 9.0) as usize) {
            *count += 1;
        }
    }
    let verdicts: u64 = tenths.iter().sum();
    if verdicts == 0 {
        return html! {};
    }
    let whole: Vec<(String, u64)> =
        (0_u32..).zip(tenths).map(|(tenth, count)| ((tenth * 10).to_string(), count)).collect();
    let is_grouped = view.columns.iter().any(|column| column.kind == ColumnKind::Group);
    html! {
        details.card #spread-fold {
            summary { "Distribution of scores" @if view.report.run.simulated { " " (simulated()) } }
            p.faint {
                "Over " (counted(verdicts, "verdict")) ". The number under a bar is the score"
                @if is_grouped { " (a group's mean, rounded)" }
                " (for the total, the lower bound in percent), the one above it the number of verdicts."
            }
            div.spreads {
                figure { figcaption { "Total, in percent" } (histogram("Total", &whole)) }
                @for (place, column) in view.columns.iter().enumerate() {
                    figure {
                        figcaption { bdi { (harmless(&column.title)) } }
                        (histogram(&column.title, &bars(view, rows().filter_map(|row| row.scores.get(place).copied()))))
                    }
                }
            }
        }
    }
}

/// Counts per score, or per range of scores on a long scale.
fn bars(view: &RunView, scores: impl Iterator<Item = f32>) -> Vec<(String, u64)> {
    let scale = view.report.rubric.scale;
    let width = scale.max.saturating_sub(scale.min).saturating_add(1);
    let step = width.div_ceil(MAX_BARS).max(1);
    let mut bars: Vec<(String, u64)> =
        (scale.min..=scale.max).step_by(step as usize).map(|from| (from.to_string(), 0)).collect();
    for score in scores.filter(|score| !score.is_nan()) {
        let place = (score.round() - scale.min as f32).max(0.0) as usize / step as usize;
        if let Some((_, count)) = bars.get_mut(place) {
            *count += 1;
        }
    }
    bars
}
