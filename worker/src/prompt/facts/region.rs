//! A region as a fact: its place, element and kind, its weight, and its repair.

use super::percent;
use juror_types::evidence::{EvidenceRegion, RegionKind};

/// The region as one line, without its number.
pub(super) fn fact(region: &EvidenceRegion) -> String {
    let [x, y, width, height] = region.place;
    let mut text = format!("region at {x}, {y}, {width}, {height}");
    match &region.element {
        Some(element) if region.lacks_content() => {
            text.push_str(&format!(": in {element}: content missing in the render"));
        }
        Some(element) => text.push_str(&format!(": {element}: {}", kind(region))),
        None => text.push_str(&format!(": {}", kind(region))),
    }
    text.push_str(&format!(
        "; {} of the picture differ, by a mean of {:.1} (CIEDE2000)",
        percent(region.share),
        region.delta_e
    ));
    if let (Some(property), Some(is), Some(should_be)) =
        (&region.property, &region.is, &region.should_be)
    {
        text.push_str(&format!("; {property} is {is} and should be {should_be}"));
        if let Some(explains) = region.explains {
            text.push_str(&format!(", which takes away {} of it", percent(explains)));
        }
    }
    text
}

fn kind(region: &EvidenceRegion) -> String {
    match (region.kind, region.moved_by) {
        (RegionKind::Moved, Some([right, down])) => {
            format!("the render has it {right} pixels further right and {down} further down")
        }
        (RegionKind::Color, _) => "another color".to_owned(),
        (RegionKind::Moved, None) => "at another place".to_owned(),
        (RegionKind::Resized, _) => "in another size".to_owned(),
        (RegionKind::Missing, _) => "missing in the render".to_owned(),
        (RegionKind::Added, _) => "in the render alone".to_owned(),
        (RegionKind::Text, _) => "another text or type".to_owned(),
        (RegionKind::Shape, _) => "another outline".to_owned(),
    }
}
