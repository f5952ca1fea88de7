//! Charts of intervals and of score distributions, each with a text alternative.

use crate::{
    document::{ChangeChart, RangeChart},
    sanitize::sanitize,
    topics::distribution::{Histogram, ScoreDistribution},
};
use juror_analysis::format::{counted, decimals, grouped};
use maud::{Markup, html};

const WIDTH: f64 = 200.0;

/// More parts than this would push everything else off the screen.
const MAX_OPEN_PARTS: usize = 8;

/// Chart of a figure and its interval on its possible range, with its required bound; `text`
/// describes the interval.
pub(super) fn range(chart: &RangeChart, text: &str) -> Markup {
    let place = |share: f64| (share * WIDTH).clamp(0.0, WIDTH);
    html! {
        svg.range viewBox="0 0 200 14" preserveAspectRatio="none" role="img"
            aria-label=(format!("95 % interval {text}")) {
            rect.track x="0" y="5" width="200" height="4" {}
            @if let Some((low, high)) = chart.interval {
                rect.sure x=(place(low)) y="3" width=((place(high) - place(low)).max(1.0)) height="8" {}
            }
            rect.value x=((place(chart.value) - 1.0).clamp(0.0, WIDTH - 2.0)) y="1" width="2" height="12" {}
            @if let Some(bound) = chart.bound {
                rect.bound x=((place(bound) - 0.5).clamp(0.0, WIDTH - 1.0)) y="0" width="1" height="14" {}
            }
        }
    }
}

/// A change and its interval beside the margin.
pub(super) fn change(chart: &ChangeChart) -> Markup {
    let place = |share: f64| ((share / chart.reach + 1.0) / 2.0 * WIDTH).clamp(0.0, WIDTH);
    let margin = (place(-chart.margin), place(chart.margin));
    html! {
        svg.range.change viewBox="0 0 200 14" preserveAspectRatio="none" aria-hidden="true" {
            rect.track x="0" y="5" width="200" height="4" {}
            rect.margin x=(margin.0) y="0" width=(margin.1 - margin.0) height="14" {}
            @if let Some((low, high)) = chart.interval {
                @let (low, high) = (place(low), place(high));
                rect.sure x=(low) y="3" width=((high - low).max(1.0)) height="8" {}
            }
            rect.bound x=(WIDTH / 2.0 - 0.5) y="0" width="1" height="14" {}
            rect.value x=((place(chart.value) - 1.0).clamp(0.0, WIDTH - 2.0)) y="1" width="2" height="12" {}
        }
    }
}

/// Stacked bar of the parts of a whole, with their counts.
pub(super) fn parts(text: &str, parts: &[(&'static str, u64)]) -> Markup {
    let all = parts.iter().map(|(_, count)| count).sum::<u64>().max(1) as f64;
    let share = |count: u64| count as f64 / all * WIDTH;
    let before =
        |place: usize| parts.iter().take(place).map(|(_, count)| share(*count)).sum::<f64>();
    html! {
        svg.stack viewBox="0 0 200 10" preserveAspectRatio="none" role="img" aria-label=(text) {
            rect.track x="0" y="0" width="200" height="10" {}
            @for (place, (name, count)) in parts.iter().enumerate() {
                @if *count > 0 {
                    rect class=(*name) x=(before(place)) y="0" width=(share(*count)) height="10" {}
                }
            }
        }
        ul.legend {
            @for (place, (name, count)) in parts.iter().enumerate() {
                @if *count > 0 || place == 0 {
                    li { span class=(format!("dot {name}")) {} (grouped(*count)) " " (name.replace('_', " ")) }
                }
            }
        }
    }
}

/// Bar of a share of the items below its text.
pub(super) fn share(share: f64) -> Markup {
    html! {
        svg.share viewBox="0 0 100 3" preserveAspectRatio="none" aria-hidden="true" {
            rect.track x="0" y="0" width="100" height="3" {}
            rect.value x="0" y="0" width=(format!("{:.1}", (share * 100.0).clamp(0.0, 100.0))) height="3" {}
        }
    }
}

/// Histograms of the total score and of its parts, collapsed if there are many.
pub fn distribution(distribution: &ScoreDistribution) -> Markup {
    let figures = |parts: &[Histogram]| {
        html! {
            @for part in parts {
                figure { figcaption { bdi { (sanitize(&part.title)) } } (histogram(part)) }
            }
        }
    };
    let is_long = distribution.parts.len() > MAX_OPEN_PARTS;
    html! {
        p.faint {
            "Over " (counted(distribution.verdicts, "verdict")) ". The number under a bar is the score"
            " (of a group, its rounded mean; of the total, the lower bound in percent), the one above it"
            " the number of verdicts."
        }
        div.spreads {
            figure.whole { figcaption { "Total, in percent" } (histogram(&distribution.whole)) }
            @if !is_long { (figures(&distribution.parts)) }
        }
        @if is_long {
            details {
                summary { "By criterion" }
                div.spreads { (figures(&distribution.parts)) }
            }
        }
    }
}

/// Histogram of these counts, with a text alternative.
fn histogram(Histogram { title, bars }: &Histogram) -> Markup {
    let most = bars.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
    let in_words: Vec<String> = bars
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(score, count)| format!("{score}: {}", grouped(*count)))
        .collect();
    let height = |count: u64| count as f64 / most as f64 * 50.0;
    html! {
        svg.histogram viewBox=(format!("0 0 {} 80", bars.len().max(8) * 26)) role="img"
            preserveAspectRatio="xMinYMid"
            aria-label=(format!("{}. {}", sanitize(title), in_words.join(", "))) {
            @for (number, (score, count)) in bars.iter().enumerate() {
                @let left = number * 26;
                rect.bar x=(left + 3) y=(format!("{:.1}", 64.0 - height(*count))) width="20"
                    height=(format!("{:.1}", height(*count))) {}
                rect.base x=(left + 1) y="64" width="24" height="1" {}
                @if *count > 0 {
                    text.count x=(left + 13) y=(format!("{:.1}", 60.0 - height(*count))) { (short(*count)) }
                }
                text.score x=(left + 13) y="76" { (score) }
            }
        }
    }
}

/// A count that fits above a bar: `950`, `3.6k`, `12k`.
fn short(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..9_950 => format!("{}k", decimals(count as f64 / 1_000.0, 1)),
        _ => format!("{}k", count.saturating_add(500) / 1_000),
    }
}
