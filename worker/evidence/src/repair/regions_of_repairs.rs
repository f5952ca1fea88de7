//! Regions with the element and property that a repair names as their cause; those that a repair
//! explains come first.

use super::{
    first_hypotheses::is_unseen,
    hypothesis::Hypothesis,
    repair_search::{FoundRepair, RepairSearch, SearchOutcome},
    space_for_missing::{innermost_around, makes_space_for},
};
use crate::{
    color,
    difference::PixelDifference,
    element_tree::{PageTree, area, boxed, intersection},
    picture_pair::{PicturePair, rounded},
    regions::{DifferenceRegion, MAX_REGIONS, mean_delta_e},
    snapshot::Snapshot,
};
use juror_types::evidence::{AlternativeRepair, Evidence, EvidenceRegion, RegionKind};

/// Maximum share of a region's differing pixels that remains after the repairs that explain the
/// region.
const REMAINING: f64 = 0.1;

impl RepairSearch {
    /// Adds the result to the evidence of the pair that the search began with: repaired elements
    /// first, then missing content, then the regions that no repair explains.
    pub fn finish(self, pair: &PicturePair<'_>, snapshot: &Snapshot, evidence: &mut Evidence) {
        if evidence.regions.is_empty() || self.is_over() && self.drawn() == 0 {
            return;
        }
        let was_tried = self.drawn() > 0;
        let page = PageTree::new(snapshot);
        let (screenshot, drawing) = (pair.screenshot(), pair.drawing());
        let before = PixelDifference::for_page(screenshot, drawing, pair.noise(), &page);
        let SearchOutcome { mut found, remaining, missing } = self.into_outcome();
        let accepted = found.len();
        found.retain(|repair| {
            !missing.iter().any(|&place| makes_space_for(&page, &repair.hypothesis, place))
        });
        // A sum of nothing would be -0.
        let explained = found.iter().fold(0.0, |sum, repair| sum + repair.explained);
        evidence.explained = was_tried.then(|| rounded(explained));
        let causes =
            found.iter().filter_map(|repair| cause(repair, pair, &before, &page, evidence));
        let mut named: Vec<EvidenceRegion> = causes.collect();
        named.extend(missing.iter().map(|&place| missing_region(place, pair, &before, &page)));
        let is_named = |region: &EvidenceRegion| {
            let own = bounds(region);
            named.iter().any(|other| other.render_box == region.render_box)
                || missing.iter().any(|&place| area(intersection(place, own)) >= 0.5 * area(own))
        };
        // What remains is less than what the named repairs leave, if others are not named.
        let is_of_named = |bounds: [i32; 4]| {
            let own = found.iter().map(|repair| page.bounds(repair.hypothesis.element));
            let mut shared = own.map(|own| area(intersection(own, bounds)));
            found.len() == accepted || shared.any(|shared| shared >= 0.5 * area(bounds))
        };
        let is_repaired = |region: &EvidenceRegion| {
            let bounds = bounds(region);
            let differing = before.count_in(bounds);
            // Content outside the drawing differs in no pixel of it.
            differing > 0
                && remaining.count_in(bounds) as f64 <= REMAINING * differing as f64
                && is_of_named(bounds)
        };
        evidence.regions.retain(|region| !is_named(region) && !is_repaired(region));
        evidence.regions.splice(0..0, named);
        evidence.regions.truncate(MAX_REGIONS);
    }
}

/// The region of missing content.
fn missing_region(
    place: [i32; 4],
    pair: &PicturePair<'_>,
    difference: &PixelDifference,
    page: &PageTree<'_>,
) -> EvidenceRegion {
    let region = DifferenceRegion {
        bounds: place,
        count: difference.count_in(place) as u32,
        delta_e: mean_delta_e(pair.screenshot(), pair.drawing(), difference, place),
        kind: RegionKind::Missing,
        moved_by: None,
        element: innermost_around(page, place),
    };
    pair.record(&region, Some(page))
}

/// Left, top, right and bottom in pixels of the drawing.
fn bounds(region: &EvidenceRegion) -> [i32; 4] {
    let [x, y, width, height] = region.render_box.map(|side| side as i32);
    [x, y, x + width, y + height]
}

/// The region of a repaired element. Share and color difference are those of the region that it lies
/// in, since a cause moves what is around it; elsewhere those of its own box, if anything differs
/// there.
fn cause(
    repair: &FoundRepair,
    pair: &PicturePair<'_>,
    difference: &PixelDifference,
    page: &PageTree<'_>,
    evidence: &Evidence,
) -> Option<EvidenceRegion> {
    let hypothesis = &repair.hypothesis;
    let own = page.bounds(hypothesis.element);
    let overlap = |region: &EvidenceRegion| area(intersection(bounds(region), own));
    let nearest =
        evidence.regions.iter().max_by(|one, other| overlap(one).total_cmp(&overlap(other)))?;
    let alike = hypothesis.change.elements.len();
    let alternatives = repair.alternatives.iter().filter_map(|other| alternative(other, page));
    let (screenshot, drawing) = (pair.screenshot(), pair.drawing());
    let inside = intersection(own, [0, 0, drawing.width() as i32, drawing.height() as i32]);
    let count = difference.count_in(inside);
    let is_elsewhere = overlap(nearest) <= 0.0 && count > 0;
    let measured = is_elsewhere.then(|| {
        let pixels = pair.compared_pixels();
        let delta_e = mean_delta_e(screenshot, drawing, difference, inside);
        (rounded(count as f64 / pixels), rounded(delta_e))
    });
    let (share, delta_e) = measured.unwrap_or((nearest.share, nearest.delta_e));
    Some(EvidenceRegion {
        share,
        delta_e,
        place: pair.screenshot_box(own),
        render_box: boxed(own, 1),
        kind: kind(hypothesis).unwrap_or(nearest.kind),
        element: page.record(hypothesis.element, alike, pair.scale()),
        property: Some(hypothesis.property().to_owned()),
        is: Some(color::shown(&hypothesis.is)),
        should_be: Some(color::shown(hypothesis.value())),
        explains: Some(rounded(repair.gain)),
        alternatives: alternatives.collect(),
        ..nearest.clone()
    })
}

fn alternative(hypothesis: &Hypothesis, page: &PageTree<'_>) -> Option<AlternativeRepair> {
    Some(AlternativeRepair {
        path: page.element(hypothesis.element)?.path.clone(),
        property: hypothesis.property().to_owned(),
        is: color::shown(&hypothesis.is),
        should_be: color::shown(hypothesis.value()),
    })
}

fn kind(hypothesis: &Hypothesis) -> Option<RegionKind> {
    let property = hypothesis.property();
    let shows_hidden = match property {
        "visibility" => hypothesis.value() == "visible",
        "display" => hypothesis.value() != "none",
        "opacity" => is_unseen(&hypothesis.is),
        _ => false,
    };
    if shows_hidden {
        return Some(RegionKind::Missing);
    }
    let kinds = [
        ("color", RegionKind::Color),
        ("background-color", RegionKind::Color),
        ("background-image", RegionKind::Color),
        ("border-color", RegionKind::Color),
        ("border-top-color", RegionKind::Color),
        ("border-bottom-color", RegionKind::Color),
        ("opacity", RegionKind::Color),
        ("display", RegionKind::Added),
        ("visibility", RegionKind::Added),
        ("font-family", RegionKind::Text),
        ("font-style", RegionKind::Text),
        ("text-decoration-line", RegionKind::Text),
        ("flex-direction", RegionKind::Moved),
        ("font-weight", RegionKind::Text),
        ("letter-spacing", RegionKind::Text),
        ("text-transform", RegionKind::Text),
        ("font-size", RegionKind::Resized),
        ("width", RegionKind::Resized),
        ("height", RegionKind::Resized),
        ("size", RegionKind::Resized),
        ("line-height", RegionKind::Resized),
        ("gap", RegionKind::Moved),
        ("align-items", RegionKind::Moved),
        ("align-self", RegionKind::Moved),
        ("justify-content", RegionKind::Moved),
        ("text-align", RegionKind::Moved),
    ];
    let named = kinds.into_iter().find(|(name, _)| *name == property).map(|(_, kind)| kind);
    let of_family = || match property {
        name if name.starts_with("margin") => Some(RegionKind::Moved),
        name if name.starts_with("padding") => Some(RegionKind::Resized),
        name if name.starts_with("border") || name == "box-shadow" => Some(RegionKind::Shape),
        _ => None,
    };
    named.or_else(of_family)
}

#[cfg(test)]
mod tests {
    use super::{super::hypothesis::HypothesisKind, *};
    use crate::snapshot::{PageChange, PageEdit};

    #[test]
    fn element_that_the_code_hides_is_missing_and_one_that_it_should_hide_is_added() {
        let kind_of = |property: &str, is: &str, value: &str| {
            let edit = PageEdit::Declare { property: property.into(), value: value.into() };
            let change = PageChange { elements: vec![0], edit };
            let is = is.to_owned();
            kind(&Hypothesis { element: 0, change, kind: HypothesisKind::Value, is, priority: 0.0 })
        };
        assert_eq!(kind_of("opacity", "0", "1"), Some(RegionKind::Missing));
        assert_eq!(kind_of("opacity", "0.5", "1"), Some(RegionKind::Color));
        assert_eq!(kind_of("display", "none", "flex"), Some(RegionKind::Missing));
        assert_eq!(kind_of("visibility", "hidden", "visible"), Some(RegionKind::Missing));
        assert_eq!(kind_of("visibility", "visible", "hidden"), Some(RegionKind::Added));
    }
}
