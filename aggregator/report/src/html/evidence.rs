//! Measurements of one item: regions over its pictures, and their meaning in words.

use super::token_evidence::token_tables;
use crate::{regions::region_text, sanitize::harmless};
use juror_analysis::{format::figure, metrics::Unit};
use juror_types::{
    evidence::{Evidence, EvidenceOutcome, EvidenceRegion, EvidenceSource},
    finding::Finding,
    item::Item,
    outcome::{InputRecord, JobResult},
    rubric::RubricImage,
};
use maud::{Markup, html};
use serde_json::json;

/// One of the two pictures of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairSide {
    /// The screenshot.
    Screenshot,
    /// The picture of the rendered code.
    Render,
}

impl PairSide {
    /// The side that an image of an item is; none for one that belongs to no pair.
    pub fn from_input(input: &InputRecord) -> Option<Self> {
        match input.name.as_str() {
            Item::RENDERED => Some(Self::Render),
            RubricImage::CROPS => None,
            _ => Some(Self::Screenshot),
        }
    }
}

/// Number of the first finding that cites a region.
fn finding_of(findings: &[Finding], region: u32) -> Option<usize> {
    findings.iter().position(|finding| finding.region == Some(region)).map(|place| place + 1)
}

/// Alignment of a pair for the script that lays its pictures over each other, as JSON.
pub fn pair_alignment(outcome: Option<&EvidenceOutcome>) -> String {
    match outcome.and_then(EvidenceOutcome::measured) {
        None => "{}".to_owned(),
        Some(Evidence { scale, shift, noise, noise_levels, size, render_size, .. }) => json!({
            "scale": scale, "shift": shift, "noise": noise, "noise_levels": noise_levels,
            "size": size, "render_size": render_size,
        })
        .to_string(),
    }
}

/// The regions as numbered boxes over a picture, each a link to the finding that cites it, else to
/// its fact; `prefix` stands before the ids of one item. Nothing where the picture's size is not
/// known.
pub fn regions_over(
    evidence: &Evidence,
    findings: &[Finding],
    side: PairSide,
    prefix: &str,
) -> Markup {
    let size = match side {
        PairSide::Screenshot => evidence.size,
        PairSide::Render => evidence.render_size,
    };
    let place = |region: &EvidenceRegion| match side {
        PairSide::Screenshot => region.place,
        PairSide::Render => region.render_box,
    };
    let name = match side {
        PairSide::Screenshot => "the screenshot",
        PairSide::Render => "the render",
    };
    html! {
        @if let Some([width, height]) = size.filter(|_| !evidence.regions.is_empty()) {
            svg.regions viewBox=(format!("0 0 {width} {height}")) preserveAspectRatio="none" {
                @for (number, region) in (1..).zip(&evidence.regions) {
                    @let [x, y, box_width, box_height] = place(region);
                    @let text = (width.max(height) / 32).clamp(10, 40);
                    @let target = match finding_of(findings, number) {
                        Some(finding) => format!("#{prefix}finding-{finding}"),
                        None => format!("#{prefix}region-{number}"),
                    };
                    @let id = (side == PairSide::Screenshot).then(|| format!("{prefix}box-{number}"));
                    a id=[id] href=(target) aria-label=(format!("Region {number} in {name}")) {
                        rect x=(x) y=(y) width=(box_width) height=(box_height) {}
                        text x=(x + 2) y=(y + text) font-size=(text) { (number) }
                    }
                }
            }
        }
    }
}

/// The facts of an item: figures, regions with their repairs, tokens; or the reason why there are
/// none. Nothing where nothing was to be measured.
///
/// `item` is the item's number on a page of many; ids and labels are told apart by it. A region
/// leads to the findings that cite it.
pub fn measured_facts(
    result: &JobResult,
    findings: &[Finding],
    item: Option<usize>,
) -> Option<Markup> {
    match (&result.evidence, &result.unmeasured) {
        (Some(outcome), _) => Some(facts_of(outcome, findings, item)),
        (None, Some(reason)) => Some(html! { p.notice { "Not measured: " (harmless(reason)) } }),
        (None, None) => None,
    }
}

fn facts_of(outcome: &EvidenceOutcome, findings: &[Finding], item: Option<usize>) -> Markup {
    let prefix = item.map_or_else(String::new, |number| format!("i{number}-"));
    match outcome {
        EvidenceOutcome::Failed { error } => html! {
            p.notice { "The code does not render: " (harmless(error)) }
        },
        EvidenceOutcome::Measured(evidence) => html! {
            p.facts { @for fact in figures(evidence) { span { bdi { (harmless(&fact)) } } " " } }
            @if evidence.pastes_screenshot {
                p.notice { "The code shows an image that equals the screenshot." }
            }
            @if !evidence.partial.is_empty() {
                p.notice { "Stand-ins were drawn in the place of " (harmless(&evidence.partial.join(", "))) "." }
            }
            @if !evidence.refused.is_empty() {
                p.notice { "Requested and not loaded: " (harmless(&evidence.refused.join(", "))) "." }
            }
            @if let Some(error) = &evidence.page_error {
                p.notice { "The code throws: " (harmless(error)) }
            }
            @if evidence.regions.is_empty() { p { "Nothing differs." } }
            @else {
                ol.regions {
                    @for (number, region) in (1..).zip(&evidence.regions) {
                        li id=(format!("{prefix}region-{number}")) {
                            (fact(region))
                            @for (place, _) in (1..).zip(findings).filter(|(_, it)| it.region == Some(number)) {
                                " " a href=(format!("#{prefix}finding-{place}")) { "finding " (place) }
                            }
                        }
                    }
                }
            }
            (token_tables(&evidence.tokens, item))
        },
    }
}

fn figures(evidence: &Evidence) -> Vec<String> {
    let share = |value: f64| figure(value, Unit::Share);
    let source = match (evidence.source, &evidence.browser) {
        (EvidenceSource::Rendered, _) => "a picture of the dataset".to_owned(),
        (EvidenceSource::Command, _) => "drawn by render_command".to_owned(),
        (EvidenceSource::Browser, Some(browser)) => format!("drawn by {browser}"),
        (EvidenceSource::Browser, None) => "drawn by a browser".to_owned(),
    };
    let mut facts = vec![
        source,
        format!("{} of the pixels are equal", share(evidence.pixels_equal)),
        format!(
            "structural similarity {:.3}, {:.3} in its lowest tenth",
            evidence.ssim, evidence.ssim_low
        ),
    ];
    facts.extend(evidence.block_match.map(|value| format!("{} of the blocks match", share(value))));
    facts.extend(evidence.explained.map(|value| format!("repairs explain {}", share(value))));
    if evidence.noise > 0.0 {
        facts.push(format!("noise of this pair {}", share(evidence.noise)));
    }
    if let Some(frame) = &evidence.frame {
        facts.push(format!("in a page of {} with {} pixels around", frame.color, frame.padding));
    }
    if let Some([width, height]) = evidence.size_ratio {
        facts.push(format!("{width:.2} of the width and {height:.2} of the height"));
    }
    facts
}

fn fact(region: &EvidenceRegion) -> Markup {
    html! {
        strong { (harmless(&region_text(region))) }
        " " span.faint {
            (share_text(region.share)) " of the picture, ΔE " (format!("{:.1}", region.delta_e))
        }
        @if let Some(repair) = repair(region) { pre tabindex="0" { code dir="ltr" { (harmless(&repair)) } } }
        @for other in &region.alternatives {
            p.small.faint {
                "or " code { (harmless(&format!("{}: {}", other.property, other.should_be))) }
                " for " (harmless(&other.is)) " on " code { (harmless(&other.path)) }
            }
        }
    }
}

/// A share of the picture; one that would be rounded to nothing is less than a thousandth.
fn share_text(share: f64) -> String {
    match share {
        share if share > 0.0 && share < 0.0005 => "under 0.1%".to_owned(),
        share => figure(share, Unit::Share),
    }
}

/// The repair as CSS to copy.
fn repair(region: &EvidenceRegion) -> Option<String> {
    let path = &region.element.as_ref()?.path;
    let (property, value) = region.property.as_ref().zip(region.should_be.as_ref())?;
    Some(format!("{path} {{ {property}: {value}; }}"))
}

#[cfg(test)]
mod tests;
