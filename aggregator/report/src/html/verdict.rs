//! A verdict: each score with the band that it lies in, and the judge's words.

use crate::sanitize::sanitize;
use indexmap::IndexMap;
use juror_analysis::format::decimals;
use juror_types::{
    evidence::Evidence,
    rubric::{Criterion, Rubric},
    verdict::{Dimension, Score, SubScore, Verdict},
};
use maud::{Markup, html};

/// The scores, in the shape of the rubric; sub-scores are unfolded if `open`.
pub fn scores(rubric: &Rubric, verdict: &Verdict, open: bool) -> Markup {
    match &verdict.score {
        Score::Sum { scores, .. } => html! {
            table.plain.scores {
                (head("Criterion"))
                tbody {
                    @for (key, score) in scores { (line(rubric, key, *score, None)) }
                }
            }
        },
        Score::Groups { dimensions, weighted_total, overall_assessment, .. } => html! {
            p { bdi { (sanitize(overall_assessment)) } }
            (groups(rubric, dimensions, *weighted_total))
            details open[open] {
                summary { "Every sub-score with its reason" }
                @for (key, dimension) in dimensions {
                    table.plain.scores {
                        caption { (group_title(rubric, key)) }
                        (head("Sub-criterion"))
                        tbody {
                            @for (key, SubScore { score, rationale }) in &dimension.sub_scores {
                                (line(rubric, key, *score, Some(rationale)))
                            }
                        }
                    }
                }
            }
        },
    }
}

/// Findings, or else issues, and strengths, as the judge put them; `prefix` makes the ids of an
/// item unique.
pub fn statements(
    rubric: &Rubric,
    verdict: &Verdict,
    evidence: Option<&Evidence>,
    prefix: &str,
) -> Markup {
    let list = |title: &str, class: &str, statements: &[String]| {
        html! {
            @if !statements.is_empty() {
                h4 { (title) }
                (statement_list(class, statements))
            }
        }
    };
    html! {
        @if verdict.findings.is_empty() { (list("Issues", "issues", &verdict.issues)) }
        @else { h4 { "Findings" } (super::findings(rubric, verdict, evidence, prefix)) }
        (list("Strengths", "strengths", &verdict.strengths))
    }
}

/// Statements in the judge's own words.
pub fn statement_list(class: &str, statements: &[String]) -> Markup {
    html! { ul class=(class) { @for statement in statements { li { bdi { (sanitize(statement)) } } } } }
}

fn head(what: &str) -> Markup {
    html! {
        thead { tr {
            th scope="col" { (what) } th scope="col" { "Score" } th scope="col" { "What that means" }
        } }
    }
}

/// A score on its scale; beside it the judge's reason, or else the rubric's band.
fn line(rubric: &Rubric, key: &str, score: u32, rationale: Option<&str>) -> Markup {
    let criterion = rubric.criteria.iter().find(|criterion| criterion.key == key);
    let title = criterion.map_or(key, |criterion| &criterion.title);
    let band = criterion.map(|criterion| band(rubric, criterion, score)).unwrap_or_default();
    html! {
        tr {
            th scope="row" { (sanitize(title)) }
            td.n {
                (score) "/" (rubric.scale.max) " "
                (meter(score.into(), rubric))
            }
            td {
                @match rationale {
                    Some(rationale) => { bdi { (sanitize(rationale)) } }
                    None => { span.faint { (sanitize(&band)) } }
                }
            }
        }
    }
}

fn groups(rubric: &Rubric, dimensions: &IndexMap<String, Dimension>, total: f64) -> Markup {
    let weight = |key: &str| {
        let group = rubric.groups.iter().find(|group| group.key == key);
        group.map_or_else(String::new, |group| format!("× {}", group.weight))
    };
    let best: f64 = rubric.groups.iter().map(|group| group.weight).sum::<f64>();
    html! {
        table.plain.scores {
            thead { tr {
                th scope="col" { "Dimension" } th scope="col" { "Mean" } th scope="col" { "Weight" }
            } }
            tbody {
                @for (key, dimension) in dimensions {
                    tr {
                        th scope="row" { (group_title(rubric, key)) }
                        td.n { (decimals(dimension.score, 2)) "/" (rubric.scale.max) " " (meter(dimension.score, rubric)) }
                        td { (weight(key)) }
                    }
                }
                tr {
                    th scope="row" { "Weighted total" }
                    td.n { (decimals(total, 2)) "/" (decimals(best * f64::from(rubric.scale.max), 2)) }
                    td {}
                }
            }
        }
    }
}

/// A score as a bar on the rubric's scale.
fn meter(score: f64, rubric: &Rubric) -> Markup {
    let (least, most) = (f64::from(rubric.scale.min), f64::from(rubric.scale.max));
    let share = ((score - least) / (most - least)).clamp(0.0, 1.0);
    let class = match share {
        1.0.. => "best",
        0.7.. => "good",
        0.4.. => "fair",
        _ => "poor",
    };
    html! {
        svg.meter viewBox="0 0 50 6" aria-hidden="true" {
            rect.track x="0" y="0" width="50" height="6" {}
            rect class=(class) x="0" y="0" width=(format!("{:.1}", share * 50.0)) height="6" {}
        }
    }
}

/// Meaning of a score in the rubric: its band, or the two that it lies between.
fn band(rubric: &Rubric, criterion: &Criterion, score: u32) -> String {
    let anchors = || criterion.anchors.iter().chain(&rubric.anchors);
    if let Some(anchor) = anchors().find(|anchor| (anchor.from..=anchor.to).contains(&score)) {
        return anchor.means.clone();
    }
    let below = anchors().map(|anchor| anchor.to).filter(|to| *to < score).max();
    let above = anchors().map(|anchor| anchor.from).filter(|from| *from > score).min();
    match below.zip(above) {
        Some((below, above)) => format!("between what {below} and what {above} stand for"),
        None => String::new(),
    }
}

/// The title of a group of criteria.
fn group_title(rubric: &Rubric, key: &str) -> String {
    let group = rubric.groups.iter().find(|group| group.key == key);
    sanitize(group.map_or(key, |group| &group.title))
}
