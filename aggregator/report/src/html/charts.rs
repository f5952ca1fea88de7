//! Small drawings: how sure a figure is, and how verdicts are spread. Each says in words what it
//! shows.

use crate::{
    document::{ChangeChart, RangeChart},
    html::{layout::simulated, page_plan::PagePlan},
    sanitize::harmless,
};
use juror_analysis::{
    format::{counted, decimals, grouped},
    run_report::Report,
};
use maud::{Markup, html};

const WIDTH: f64 = 200.0;

/// A wider scale is drawn in this many bars.
const MAX_BARS: u32 = 20;

/// A figure and its interval on the whole range that it can have, with the bound that it must meet;
/// `text` says the interval.
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

/// The parts of a whole as one bar, and their counts.
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

/// A share of the items as a bar under the words that say it.
pub(super) fn share(share: f64) -> Markup {
    html! {
        svg.share viewBox="0 0 100 3" preserveAspectRatio="none" aria-hidden="true" {
            rect.track x="0" y="0" width="100" height="3" {}
            rect.value x="0" y="0" width=(format!("{:.1}", (share * 100.0).clamp(0.0, 100.0))) height="3" {}
        }
    }
}

/// Distribution of the verdicts, over all and by criterion.
pub(super) fn distributions(report: &Report, survey: &PagePlan) -> Markup {
    let verdicts: u64 = survey.tenths.iter().sum();
    if verdicts == 0 {
        return html! {};
    }
    let tenths: Vec<(String, u64)> = (0_u32..)
        .zip(survey.tenths)
        .map(|(tenth, count)| (format!("{}", tenth * 10), count))
        .collect();
    html! {
        section.card aria-labelledby="spread" {
            h2 #spread {
                "How the scores are spread" @if report.run.simulated { " " (simulated()) }
            }
            p.faint {
                "Over " (counted(verdicts, "verdict")) ". The number under a bar is the score"
                " (for the whole, the percentage from which the bar counts), the one above it is how many got it."
            }
            div.spreads {
                figure.whole { figcaption { "The whole, in percent" } (histogram("The whole", &tenths)) }
                @if !is_long(report) { (by_criterion(report, survey)) }
            }
            @if is_long(report) {
                details {
                    summary { "By criterion" }
                    div.spreads { (by_criterion(report, survey)) }
                }
            }
        }
    }
}

/// True if the rubric has so many criteria that they would push everything else off the screen.
fn is_long(report: &Report) -> bool {
    report.rubric.criteria.len() > 8
}

fn by_criterion(report: &Report, survey: &PagePlan) -> Markup {
    html! {
        @for criterion in &report.rubric.criteria {
            @if let Some(spread) = survey.spreads.get(&criterion.key) {
                figure {
                    figcaption { bdi { (harmless(&criterion.title)) } }
                    (histogram(&criterion.title, &bars(report, |score| spread.get(&score).copied())))
                }
            }
        }
    }
}

/// A bar for each score of the scale, or for a few at a time where it is long.
fn bars(report: &Report, count: impl Fn(u32) -> Option<u64>) -> Vec<(String, u64)> {
    let scale = report.rubric.scale;
    let scores = scale.max.saturating_sub(scale.min).saturating_add(1);
    let step = scores.div_ceil(MAX_BARS).max(1);
    (scale.min..=scale.max)
        .step_by(step as usize)
        .map(|from| {
            let to = from.saturating_add(step - 1).min(scale.max);
            (from.to_string(), (from..=to).filter_map(&count).sum())
        })
        .collect()
}

/// Bars of these counts, said in words too.
pub fn histogram(title: &str, bars: &[(String, u64)]) -> Markup {
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
            aria-label=(format!("{}. {}", harmless(title), in_words.join(", "))) {
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
