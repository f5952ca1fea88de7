//! Findings of a verdict, and badges of verdicts to review.

use crate::sanitize::sanitize;
use juror_types::{evidence::Evidence, finding::Finding, rubric::Rubric, verdict::Verdict};
use maud::{Markup, html};

/// Badges for contradictions and suspected prompt injection.
pub fn review_badges(verdict: &Verdict) -> Markup {
    html! {
        @if verdict.contradicts_evidence() { " " span.chip.unscorable { "contradicts the evidence" } }
        @if verdict.contradicts_itself() { " " span.chip.unscorable { "contradictory" } }
        @if !verdict.suspected_instructions.is_empty() { " " span.chip.failed { "suspected instructions" } }
    }
}

/// Explanation of each badge; empty without badges.
pub fn badge_explanations(verdict: &Verdict) -> Markup {
    html! {
        @if !verdict.suspected_instructions.is_empty() {
            p.notice { "The judge suspects instructions in the data:"
                @for text in &verdict.suspected_instructions { " " q { bdi { (sanitize(text)) } } } }
        }
        @for (lead, rules) in [
            ("The verdict contradicts the measured evidence: ", contradictions(verdict, true)),
            ("The verdict contradicts itself: ", contradictions(verdict, false)),
        ] {
            @if !rules.is_empty() { p.notice { (lead) (rules) "." } }
        }
    }
}

/// Findings in the judge's order, each with a link to the box of the region that it cites;
/// `prefix` makes the HTML ids unique per item.
pub fn findings(
    rubric: &Rubric,
    verdict: &Verdict,
    evidence: Option<&Evidence>,
    prefix: &str,
) -> Markup {
    html! {
        ol.found {
            @for (number, finding) in (1..).zip(&verdict.findings) {
                li id=(format!("{prefix}finding-{number}")) {
                    (entry(rubric, finding, region_link(finding, evidence, prefix)))
                }
            }
        }
    }
}

/// A link to the box of a cited region.
fn region_link(finding: &Finding, evidence: Option<&Evidence>, prefix: &str) -> Markup {
    html! {
        @if let Some(number) = finding.region.filter(|_| evidence.is_some()) {
            " " a href=(format!("#{prefix}box-{number}")) { "region " (number) }
        }
    }
}

fn entry(rubric: &Rubric, finding: &Finding, region: Markup) -> Markup {
    let kind = rubric.vocabulary.kind(&finding.kind);
    let kind = kind.map_or(finding.kind.as_str(), |kind| &kind.title);
    let element = rubric.vocabulary.element(&finding.element);
    let element = element.map_or(finding.element.as_str(), |element| &element.title);
    let criteria: Vec<&str> = finding
        .criteria
        .iter()
        .map(|key| {
            let known = rubric.criteria.iter().find(|criterion| criterion.key == *key);
            known.map_or(key.as_str(), |criterion| &criterion.title)
        })
        .collect();
    html! {
        p {
            strong { (sanitize(kind)) } ", " (sanitize(element))
            @if !finding.place.is_empty() { " (" bdi { (sanitize(&finding.place)) } ")" }
            " " span class=(format!("chip {}", finding.severity.name())) { (finding.severity.name()) }
            (region)
        }
        p { bdi { (sanitize(&finding.statement)) } }
        p.faint.small {
            @if !finding.shown.is_empty() { "Shown: " bdi { (sanitize(&finding.shown)) } ". " }
            @if !finding.found.is_empty() { "Found: " bdi { (sanitize(&finding.found)) } ". " }
            @if !criteria.is_empty() { "Touches " (sanitize(&criteria.join(", "))) "." }
        }
    }
}

/// Titles of the violated consistency rules: against the evidence if `with_evidence`, else within
/// the reply.
fn contradictions(verdict: &Verdict, with_evidence: bool) -> String {
    let rules = verdict.contradictions.iter();
    let rules = rules.filter(|rule| rule.is_with_evidence() == with_evidence);
    rules.map(|rule| rule.title()).collect::<Vec<_>>().join("; ")
}
