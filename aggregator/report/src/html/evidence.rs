//! Measurements of one item in words.

use super::token_evidence::token_tables;
use crate::{regions::region_text, sanitize::sanitize};
use juror_analysis::{format::figure, metrics::Unit};
use juror_types::{
    evidence::{
        BrowserDefault, Evidence, EvidenceOutcome, EvidenceRegion, EvidenceSource, RegionElement,
    },
    finding::Finding,
    outcome::JobResult,
};
use maud::{Markup, html};

/// The facts of an item: figures, regions with their repairs, tokens; or the reason why there are
/// none. Nothing where nothing was to be measured.
///
/// Measured facts of an item. `item` is its number on a page of many, which makes ids and labels
/// unique. A region links to the findings that cite it.
pub fn measured_facts(
    result: &JobResult,
    findings: &[Finding],
    item: Option<usize>,
) -> Option<Markup> {
    match (&result.evidence, &result.unmeasured) {
        (Some(outcome), _) => Some(facts_of(outcome, findings, item)),
        (None, Some(reason)) => Some(html! { p.notice { "Not measured: " (sanitize(reason)) } }),
        (None, None) => None,
    }
}

fn facts_of(outcome: &EvidenceOutcome, findings: &[Finding], item: Option<usize>) -> Markup {
    let prefix = item.map_or_else(String::new, |number| format!("i{number}-"));
    match outcome {
        EvidenceOutcome::Failed { error } => html! {
            p.notice { "The code does not render: " (sanitize(error)) }
        },
        EvidenceOutcome::Measured(evidence) => html! {
            p.facts { @for fact in figures(evidence) { span { bdi { (sanitize(&fact)) } } " " } }
            @if !evidence.defaults.is_empty() {
                p.notice { (sanitize(&defaults_text(&evidence.defaults))) }
            }
            @if evidence.pastes_screenshot {
                p.notice { "The code shows an image over 30 % of the page that equals the screenshot there." }
            }
            @if !evidence.partial.is_empty() {
                p.notice { "Stand-ins were drawn in the place of " (sanitize(&evidence.partial.join(", "))) "." }
            }
            @if !evidence.refused.is_empty() {
                p.notice { "Requested and not loaded: " (sanitize(&evidence.refused.join(", "))) "." }
            }
            @if let Some(error) = &evidence.page_error {
                p.notice { "The code throws: " (sanitize(error)) }
            }
            @if evidence.regions.is_empty() {
                p { @if evidence.overflow.is_some() { "Nothing differs within the screenshot." } @else { "Nothing differs." } }
            }
            @else {
                ol.regions {
                    @for (number, region) in (1..).zip(&evidence.regions) {
                        li id=(format!("{prefix}region-{number}")) {
                            (fact(region))
                            @for (place, _) in (1..).zip(findings).filter(|(_, finding)| finding.region == Some(number)) {
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
    let share = share_text;
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
    facts.extend(evidence.frame.as_ref().map(ToString::to_string));
    if let Some([width, height]) = evidence.size_ratio {
        facts.push(format!("{width:.3} of the width and {height:.3} of the height"));
    }
    if let Some([right, below]) = evidence.overflow {
        facts.push(format!(
            "the page goes on beyond the screenshot, by {right} pixels to the right and {below} \
             below: not compared"
        ));
    }
    if evidence.cut_short {
        facts.push("rendering ended before everything was tried".to_owned());
    }
    facts
}

fn defaults_text(defaults: &[BrowserDefault]) -> String {
    let styles: Vec<_> = defaults.iter().map(ToString::to_string).collect();
    format!("Rendered with default styles of the screenshot's browser: {}.", styles.join("; "))
}

fn fact(region: &EvidenceRegion) -> Markup {
    html! {
        strong { (sanitize(&region_text(region))) }
        " " span.faint {
            (share_text(region.share)) " of the picture, ΔE " (format!("{:.1}", region.delta_e))
        }
        @if let Some(repair) = repair(region) { pre tabindex="0" { code dir="ltr" { (sanitize(&repair)) } } }
        @for other in &region.alternatives {
            p.small.faint {
                "or " code { (sanitize(&format!("{}: {}", other.property, other.should_be))) }
                " for " (sanitize(&other.is)) " on " code { (sanitize(&other.path)) }
            }
        }
    }
}

/// A share in percent; one that is neither 0 nor 1 is not rounded to it.
fn share_text(share: f64) -> String {
    match share {
        share if share > 0.0 && share < 0.0005 => "under 0.1%".to_owned(),
        share if (0.9995..1.0).contains(&share) => "over 99.9%".to_owned(),
        share => figure(share, Unit::Share),
    }
}

/// The repair as CSS to copy.
fn repair(region: &EvidenceRegion) -> Option<String> {
    let RegionElement { path, selector, .. } = region.element.as_ref()?;
    let path = selector.as_ref().unwrap_or(path);
    let (property, value) = region.property.as_ref().zip(region.should_be.as_ref())?;
    let declarations = match (property.as_str(), value.split_once(' ')) {
        ("size", Some((width, height))) => format!("width: {width}; height: {height};"),
        ("size", None) => format!("width: {value}; height: {value};"),
        _ => format!("{property}: {value};"),
    };
    Some(format!("{path} {{ {declarations} }}"))
}

#[cfg(test)]
mod tests;
