//! Measured regions in words.

use juror_analysis::{format::figure, metrics::Unit};
use juror_types::evidence::{EvidenceRegion, RegionKind};

/// A region in one line: `button "Save": another color; background-color: #1D4ED8 for #2563EB takes
/// away 97.0%`.
pub fn region_text(region: &EvidenceRegion) -> String {
    let mut text = String::new();
    if let Some(element) = &region.element {
        text.push_str(&element.tag);
        if !element.text.is_empty() {
            text.push_str(&format!(" {:?}", element.text));
        }
        if element.alike > 1 {
            text.push_str(&format!(" and {} alike", element.alike - 1));
        }
        text.push_str(": ");
    }
    text.push_str(region_kind_text(region.kind));
    if let Some([right, down]) = region.moved_by {
        text.push_str(&format!(" ({right}, {down})"));
    }
    if let (Some(property), Some(is), Some(should_be)) =
        (&region.property, &region.is, &region.should_be)
    {
        text.push_str(&format!("; {property}: {should_be} for {is}"));
        if let Some(explains) = region.explains {
            text.push_str(&format!(" takes away {}", figure(explains, Unit::Share)));
        }
    }
    text
}

/// A kind of region in words.
pub fn region_kind_text(kind: RegionKind) -> &'static str {
    match kind {
        RegionKind::Color => "another color",
        RegionKind::Moved => "at another place",
        RegionKind::Resized => "in another size",
        RegionKind::Missing => "missing in the render",
        RegionKind::Added => "in the render alone",
        RegionKind::Text => "another text or type",
        RegionKind::Shape => "another outline",
    }
}
