//! Result in full: images, scores, statements, code, and costs.

use super::{
    MAX_SECTIONS, PairSide, measured_facts, outcome_chip, pair_alignment, regions_over, verdict,
};
use crate::{
    Attachment,
    attachment::{Code, Picture},
    html::{layout::simulated, page_plan::PagePlan},
    sanitize::{sanitize, sanitize_lines},
    topics::results::item_name,
};
use juror_analysis::metrics::Unit;
use juror_analysis::{
    format::{counted, dollars, duration, figure, grouped},
    run_report::Report,
};
use juror_types::{
    evidence::{Evidence, EvidenceOutcome},
    finding::Finding,
    outcome::{InputRecord, JobResult},
    rubric::RubricImage,
    usage::Money,
    verdict::{Score, Verdict},
};
use maud::{Markup, PreEscaped, html};

/// Markup before the first section.
pub(super) fn opening(report: &Report, plan: &PagePlan) -> Markup {
    let (all, shown) = (report.items.results() as u64, plan.in_full().len() as u64);
    html! {
        (PreEscaped("<section class=\"sections\" aria-labelledby=\"full\">"))
        h2 #full { "Item by item" }
        @if shown < all {
            p.notice {
                "These are the " (grouped(shown)) " to look at first of " (grouped(all))
                ". The table above has all of them; report.json and results.jsonl have them in full."
            }
        }
    }
}

/// Markup after the last section.
pub(super) fn closing() -> Markup {
    html! { (PreEscaped("</section>")) }
}

/// Section of one result; `number` is its position in the table.
pub(super) fn section(
    report: &Report,
    number: usize,
    result: &JobResult,
    attachment: Option<&Attachment>,
) -> Markup {
    debug_assert!(number < MAX_SECTIONS);
    let verdict = result.verdict();
    let findings = verdict.map_or(&[][..], |verdict| &verdict.findings);
    let prefix = format!("i{number}-");
    html! {
        article.card.item id=(format!("i{number}")) aria-labelledby=(format!("h{number}")) {
            header {
                h3 id=(format!("h{number}")) { bdi { (sanitize(&item_name(report, result))) } }
                (outcome_chip(result.outcome))
                @if let Some(verdict) = verdict { (score(verdict)) }
                @if result.is_simulated() && verdict.is_some() { (simulated()) }
                @if let Some(verdict) = verdict { (super::review_badges(verdict)) }
                @for tag in &result.item.tags { small.tag { (sanitize(tag)) } }
                a.up href="#items" { "to the table" }
            }
            div.sides {
                div {
                    @let is_compared = is_pair(result);
                    @let alignment = is_compared.then(|| pair_alignment(result.evidence.as_ref()));
                    @let no_heat = no_heat_map(result, attachment);
                    div.pictures.compared[is_compared] data-compare=[alignment] data-no-heat=[no_heat] {
                        (pictures(result, attachment, findings, &prefix))
                    }
                    (crops(result, attachment))
                    @if let Some(facts) = measured_facts(result, findings, Some(number)) {
                        h4 { "Measured" }
                        (facts)
                    }
                    (took(report, result))
                }
                div {
                    @if let Some(error) = &result.error {
                        p.error { strong { (error.kind.name()) } ": " (sanitize(&error.message)) }
                    }
                    @if let Some(verdict) = verdict {
                        (verdict::scores(&report.rubric, verdict, false))
                        (super::badge_explanations(verdict))
                        (verdict::statements(&report.rubric, verdict, measured(result), &prefix))
                    }
                }
            }
            @if let Some(code) = attachment.and_then(|attachment| attachment.code.as_ref()) { (code_of(code)) }
        }
    }
}

/// A verdict as one figure.
pub fn score(verdict: &Verdict) -> Markup {
    html! {
        strong.score {
            @match &verdict.score {
                Score::Sum { total_score, max_score, semantic_correctness, .. } => {
                    (figure(*semantic_correctness, Unit::Share)) " "
                    span.faint { (total_score) "/" (max_score) }
                }
                Score::Groups { percentage, grade, .. } => {
                    (figure(*percentage, Unit::Percent)) " " span.grade { (sanitize(grade)) }
                }
            }
        }
    }
}

/// Name and origin of an image, and a remark on it.
pub fn picture_caption(input: &InputRecord, remark: Option<&str>) -> Markup {
    html! {
        (sanitize(&input.name.replace('_', " "))) ": " bdi { (sanitize(&input.reference)) }
        @if let Some(note) = &input.note { " (" (sanitize(note)) ")" }
        @if let Some(remark) = remark { ", " strong { (sanitize(remark)) } }
    }
}

/// Findings of the stages, and time and cost of the job.
pub fn took(report: &Report, result: &JobResult) -> Markup {
    let yes_or_no = |holds: bool| if holds { "yes" } else { "no" };
    html! {
        dl.pairs.small {
            @if let Some(stage) = &result.token_extraction {
                dt { "Tokens" } dd { (figure(stage.accuracy, Unit::Share)) " as expected" }
            }
            @if let Some(stage) = &result.retrieval {
                dt { "Pattern" }
                dd {
                    (if stage.correct { "right" } else { "wrong" })
                    @if let Some(pattern) = &stage.retrieved { ": " bdi { (sanitize(pattern)) } }
                }
            }
            @if let Some(stage) = &result.generation {
                @if let Some(compiles) = stage.code_compiles {
                    dt { "Compiles" }
                    dd { (yes_or_no(compiles)) @if let Some(error) = &stage.error { ": " (sanitize(error)) } }
                }
                @if let Some(renders) = stage.renders {
                    dt { "Renders" } dd { (yes_or_no(renders)) }
                }
                @if let Some(quality) = stage.quality_score {
                    dt { "Quality" } dd { (figure(quality, Unit::Score)) }
                }
            }
            @if let Some(passed) = result.pipeline_success { dt { "Passed" } dd { (yes_or_no(passed)) } }
            @if report.run.judge.is_some() {
                dt { "Cost" }
                dd {
                    (dollars(result.cost_usd))
                    @if result.cached { ", from the cache" }
                    @else if result.attempts > 0 || result.cost_usd > Money::ZERO {
                        ", " (counted(result.attempts.into(), "call"))
                    }
                }
            }
            dt { "Time" } dd { (duration(result.total_latency_ms as f64)) }
            @if let Some(cluster) = &result.item.cluster { dt { "Cluster" } dd { (sanitize(cluster)) } }
        }
    }
}

/// True if there are exactly a screenshot and an image of the code.
fn is_pair(result: &JobResult) -> bool {
    let mut sides = result.item.images().filter_map(PairSide::from_input);
    let is_pair = (sides.next(), sides.next(), sides.next())
        == (Some(PairSide::Screenshot), Some(PairSide::Render), None);
    result.evidence.is_some() && is_pair
}

/// Reason why the page has no heat map of a pair; `None` if it has one.
fn no_heat_map(result: &JobResult, attachment: Option<&Attachment>) -> Option<&'static str> {
    let pictures = attachment.map(|attachment| attachment.pictures.as_slice()).unwrap_or_default();
    let mut pair = pictures.iter().filter(|(name, _)| name != RubricImage::CROPS);
    let are_whole = pair.all(|(_, picture)| picture.as_ref().is_ok_and(|shown| shown.is_original));
    match are_whole {
        true => None,
        false if measured(result).is_some_and(|evidence| evidence.regions.is_empty()) => {
            Some("No heat map, since nothing differs.")
        }
        false => Some(
            "No heat map: the pictures are too large for this page, which has reduced copies of \
             them. The dashboard has it.",
        ),
    }
}

fn measured(result: &JobResult) -> Option<&Evidence> {
    result.evidence.as_ref().and_then(EvidenceOutcome::measured)
}

/// The images with their regions; crops are not among them.
fn pictures(
    result: &JobResult,
    attachment: Option<&Attachment>,
    findings: &[Finding],
    prefix: &str,
) -> Markup {
    let sides =
        result.item.images().filter_map(|input| Some((input, PairSide::from_input(input)?)));
    html! {
        @for (input, side) in sides {
            @let regions = measured(result).map(|evidence| regions_over(evidence, findings, side, prefix));
            (picture(input, attachment, regions))
        }
    }
}

/// The contact sheet of the regions, if the judge was sent one.
fn crops(result: &JobResult, attachment: Option<&Attachment>) -> Markup {
    let mut sheets = result.item.images().filter(|input| PairSide::from_input(input).is_none());
    html! {
        @if let Some(sheet) = sheets.next() { div.pictures { (picture(sheet, attachment, None)) } }
    }
}

fn picture(input: &InputRecord, attachment: Option<&Attachment>, over: Option<Markup>) -> Markup {
    let mut pictures = attachment.into_iter().flat_map(|attachment| &attachment.pictures);
    let known = pictures.find(|(name, _)| *name == input.name).map(|(_, picture)| picture);
    html! {
        figure {
            @match known {
                Some(Ok(picture)) => {
                    div.marked { (image(picture, input)) @if let Some(over) = over { (over) } }
                }
                Some(Err(reason)) => { p.missing { "No picture: " (sanitize(reason)) } }
                None => { p.missing { "No picture on this page." } }
            }
            figcaption {
                (picture_caption(input, attachment.and_then(|attachment| attachment.remark_on(&input.name))))
            }
        }
    }
}

fn image(picture: &Picture, input: &InputRecord) -> Markup {
    let encoded = base64_simd::STANDARD.encode_to_string(&picture.bytes);
    html! {
        img src=(PreEscaped(format!("data:{};base64,{encoded}", picture.media_type)))
            width=(picture.width) height=(picture.height)
            alt=(format!("{} of this item", sanitize(&input.name.replace('_', " "))))
            loading="lazy" decoding="async";
    }
}

fn code_of(code: &Result<Code, String>) -> Markup {
    html! {
        @match code {
            Ok(code) => {
                details.code {
                    summary {
                        "Generated code"
                        @if let Some(language) = code.language { " (" (language.name()) ")" }
                        @if let Some(remark) = &code.remark { ", " strong { (sanitize(remark)) } }
                    }
                    pre tabindex="0" { code dir="ltr" { (sanitize_lines(&code.text)) } }
                    @if code.left_out > 0 {
                        p.faint { (grouped(code.left_out as u64)) " more bytes are left out." }
                    }
                }
            }
            Err(reason) => { p.missing { "No code: " (sanitize(reason)) } }
        }
    }
}
