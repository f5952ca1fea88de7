//! The images that were judged.

use crate::{pages::links, view::RunView};
use juror_aggregator::report::harmless::harmless;
use juror_common::outcome::{InputRecord, JobResult};
use maud::{Markup, html};

/// All of them; two lie over each other under a slider where the script runs, and side by side
/// where it does not.
pub fn section(view: &RunView, result: &JobResult) -> Markup {
    let inputs = &result.item.inputs;
    let can_slide = inputs.len() == 2 && inputs.iter().all(|input| input.digest.is_some());
    html! {
        section.card.judged aria-labelledby="judged" {
            h2 #judged { @if inputs.len() == 1 { "Screenshot" } @else { "Images" } }
            @if inputs.is_empty() { p.missing { "This item has no image." } }
            div.pictures.pair[inputs.len() == 2] data-slider[can_slide] {
                @for input in inputs { (picture(view, input)) }
            }
        }
    }
}

fn picture(view: &RunView, input: &InputRecord) -> Markup {
    let name = harmless(&input.name.replace('_', " "));
    html! {
        figure {
            @match &input.digest {
                Some(digest) => {
                    @let address = links::image(&view.report.run.id, digest);
                    a href=(address) { img src=(address) alt=(format!("{name} of this item")) decoding="async"; }
                }
                None if view.report.run.judge.is_none() => {
                    p.missing { "No judge looked at this image, so it is not known which bytes it had." }
                }
                None => { p.missing { "This image could not be read when it was judged." } }
            }
            figcaption {
                (name) ": " bdi { (harmless(&input.reference)) }
                @if let Some(note) = &input.note { " (" (harmless(note)) ")" }
            }
        }
    }
}
