//! Measured regions in words.

use juror_analysis::{format::figure, metrics::Unit};
use juror_types::evidence::{EvidenceRegion, RegionKind};

/// A region in one line: `button "Save": another color; background-color: #1D4ED8 for #2563EB takes
/// away 97.0%`.
pub fn region_text(region: &EvidenceRegion) -> String {
    let mut text = match &region.element {
        Some(element) if region.lacks_content() => {
            format!("in {element}: content missing in the render")
        }
        Some(element) => format!("{element}: {}", region_kind_text(region.kind)),
        None => region_kind_text(region.kind).to_owned(),
    };
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

/// Words for a kind of region.
fn region_kind_text(kind: RegionKind) -> &'static str {
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

#[cfg(test)]
mod tests {
    use super::*;
    use juror_types::test_record::recolored_button;

    #[test]
    fn an_element_that_lacks_content_is_not_missing_itself() {
        let hidden = EvidenceRegion {
            kind: RegionKind::Missing,
            property: Some("display".to_owned()),
            ..recolored_button()
        };
        assert!(region_text(&hidden).contains("\"Save\": missing in the render"));
        let lacking = EvidenceRegion { property: None, is: None, should_be: None, ..hidden };
        let text = region_text(&lacking);
        assert_eq!(text, "in button \"Save\": content missing in the render");
    }
}
