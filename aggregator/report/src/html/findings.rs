//! The findings of a verdict, and the marks of verdicts that need a second look.

use crate::sanitize::sanitize;
use juror_types::{evidence::Evidence, finding::Finding, rubric::Rubric, verdict::Verdict};
use maud::{Markup, html};

/// Marks of a verdict that contradicts itself or names attempts to instruct the judge.
pub fn marks(verdict: &Verdict) -> Markup {
    html! {
        @if verdict.contradicts_evidence() { " " span.chip.unscorable { "contradicts the evidence" } }
        @if verdict.contradicts_itself() { " " span.chip.unscorable { "contradictory" } }
        @if !verdict.suspected_instructions.is_empty() { " " span.chip.failed { "suspected instructions" } }
    }
}

/// The reasons of the marks, in words; nothing where there is none.
pub fn mark_reasons(verdict: &Verdict) -> Markup {
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

/// The findings, in the judge's order, each with a link to the box of the region that it cites;
/// `prefix` makes the ids of an item unique.
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

/// The rules that the verdict breaks, those with the evidence or the others.
fn contradictions(verdict: &Verdict, with_evidence: bool) -> String {
    let rules = verdict.contradictions.iter();
    let rules = rules.filter(|rule| rule.is_with_evidence() == with_evidence);
    rules.map(|rule| rule.title()).collect::<Vec<_>>().join("; ")
}
