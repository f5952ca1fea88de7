//! Pair of a screenshot and an image of the rendered code, with the regions that differ.

use juror_types::{
    evidence::{Evidence, EvidenceOutcome, EvidenceRegion},
    finding::Finding,
    item::Item,
    outcome::InputRecord,
    rubric::RubricImage,
};
use maud::{Markup, html};
use serde_json::json;

/// Image of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairSide {
    /// The item's screenshot.
    Screenshot,
    /// Image of the rendered code.
    Render,
}

impl PairSide {
    /// The image's side of the pair; `None` for other images.
    pub fn from_input(input: &InputRecord) -> Option<Self> {
        match input.name.as_str() {
            Item::RENDERED => Some(Self::Render),
            RubricImage::CROPS => None,
            _ => Some(Self::Screenshot),
        }
    }
}

/// Alignment of a pair for the script that overlays its images, as JSON.
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

/// Regions as numbered boxes over an image, each linked to the finding that cites it, else to its
/// fact; `prefix` makes the ids of an item unique.
pub fn regions_over(
    evidence: &Evidence,
    findings: &[Finding],
    side: PairSide,
    prefix: &str,
) -> Markup {
    let [width, height] = match side {
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
        @if !evidence.regions.is_empty() {
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

/// Number of the first finding that cites a region.
fn finding_of(findings: &[Finding], region: u32) -> Option<usize> {
    findings.iter().position(|finding| finding.region == Some(region)).map(|place| place + 1)
}
