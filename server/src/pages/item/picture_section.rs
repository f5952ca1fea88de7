//! The images of an item.

use crate::{api::image_address, view::RunView};
use juror_app::item_source::ItemDetails;
use juror_report::{
    html::{PairSide, pair_alignment, picture_caption, regions_over},
    sanitize::sanitize,
};
use juror_types::{
    evidence::EvidenceOutcome,
    outcome::{InputRecord, JobResult},
};
use maud::{Markup, html};

/// Section of the images: a pair lies under a slider if the script runs, otherwise side by side;
/// crops of the regions follow.
pub fn section(view: &RunView, result: &JobResult, show: Option<&ItemDetails>) -> Markup {
    let (inputs, sheets): (Vec<&InputRecord>, Vec<&InputRecord>) =
        result.item.images().partition(|input| PairSide::from_input(input).is_some());
    let address = |input: &InputRecord| image_address(result, input, show);
    let is_pair = inputs.len() == 2 && inputs.iter().all(|input| address(input).is_some());
    let is_rendered =
        inputs.iter().any(|input| PairSide::from_input(input) == Some(PairSide::Render));
    let compares = is_pair && is_rendered;
    let can_slide = is_pair && !is_rendered;
    let alignment = compares.then(|| pair_alignment(result.evidence.as_ref()));
    html! {
        section.card.judged aria-labelledby="judged" {
            h2 #judged {
                @if inputs.len() == 1 { "Screenshot" } @else if compares { "Screenshot and render" } @else { "Images" }
            }
            @if inputs.is_empty() { p.missing { "This item has no image." } }
            div.pictures.pair[inputs.len() == 2 && !compares].compared[compares] data-slider[can_slide] data-compare=[alignment] {
                @for input in inputs { (picture(view, result, input, address(input), show)) }
            }
            @for sheet in sheets {
                div.pictures { (picture(view, result, sheet, address(sheet), show)) }
            }
        }
    }
}

fn picture(
    view: &RunView,
    result: &JobResult,
    input: &InputRecord,
    address: Option<String>,
    show: Option<&ItemDetails>,
) -> Markup {
    let name = sanitize(&input.name.replace('_', " "));
    let is_unjudged = address.is_some() && input.digest.is_none();
    let measured = result.evidence.as_ref().and_then(EvidenceOutcome::measured);
    let findings = result.verdict().map_or(&[][..], |verdict| &verdict.findings);
    let over = measured.zip(PairSide::from_input(input));
    let attachment = show.map(|show| &show.attachment);
    let remark = attachment.and_then(|attachment| attachment.remark_on(&input.name));
    html! {
        figure {
            @match address {
                Some(address) => {
                    div.marked {
                        a href=(address) { img src=(address) alt=(format!("{name} of this item")) decoding="async"; }
                        @if let Some((evidence, side)) = over { (regions_over(evidence, findings, side, "")) }
                    }
                }
                None => { p.missing { (absence(view, input, show)) } }
            }
            figcaption {
                (picture_caption(input, remark))
                @if is_unjudged { ", current file: it was not judged" }
            }
        }
    }
}

/// Reason why an image is not shown.
fn absence(view: &RunView, input: &InputRecord, show: Option<&ItemDetails>) -> String {
    let mut pictures = show.iter().flat_map(|show| &show.attachment.pictures);
    match pictures.find(|(name, _)| *name == input.name) {
        Some((_, Err(reason))) => format!("This image cannot be shown: {}.", sanitize(reason)),
        _ if view.report.run.judge.is_none() => {
            "This image was not judged, so its content at that time is unknown.".to_owned()
        }
        _ => "This image could not be read when it was judged.".to_owned(),
    }
}
