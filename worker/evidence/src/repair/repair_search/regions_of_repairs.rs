//! Regions with the element and property that a repair names as their cause; those that a repair
//! explains come first.

use super::{FoundRepair, RepairSearch};
use crate::{
    bounds::{area, boxed, intersection},
    color,
    difference::PixelDifference,
    element_tree::PageTree,
    picture_pair::{PicturePair, rounded},
    regions::{DifferenceRegion, MAX_REGIONS, mean_delta_e},
    repair::{
        first_hypotheses::is_unseen,
        hypothesis::{Hypothesis, HypothesisKind},
        missing::{ShownShapes, joined},
    },
    snapshot::Snapshot,
};
use juror_types::evidence::{AlternativeRepair, Evidence, EvidenceRegion, RegionKind};

/// Maximum share of a region's differing pixels that remains after the repairs that explain the
/// region.
const REMAINING: f64 = 0.1;

impl RepairSearch {
    /// Adds the result to the evidence of the pair that the search began with: repaired elements
    /// first, then missing content, then the regions that no repair explains.
    pub fn finish(mut self, pair: &PicturePair<'_>, snapshot: &Snapshot, evidence: &mut Evidence) {
        if evidence.regions.is_empty() || self.round.before == 0 && self.drawn == 0 {
            return;
        }
        while self.accept_best() {}
        let page = PageTree::new(snapshot);
        let before = pair.difference(Some(&page));
        let remaining = self.difference();
        let missing = ShownShapes::with_lines(&self.screenshot).missing_in(&remaining);
        let missing = joined(&missing);
        let mut found = self.found.clone();
        let accepted = found.len();
        found.retain(|repair| {
            !missing.iter().any(|&place| makes_space_for(&page, &repair.hypothesis, place))
        });
        // A sum of nothing would be -0.
        let explained = found.iter().fold(0.0, |sum, repair| sum + repair.explained);
        evidence.explained = (self.drawn > 0).then(|| rounded(explained));
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
    difference: &PixelDifference<'_>,
    page: &PageTree<'_>,
) -> EvidenceRegion {
    let region = DifferenceRegion {
        bounds: place,
        count: difference.count_in(place) as u32,
        delta_e: mean_delta_e(difference, place),
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
    difference: &PixelDifference<'_>,
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
    let inside = pair.drawing.visible_part(own);
    let count = difference.count_in(inside);
    let (share, delta_e) = match overlap(nearest) <= 0.0 && count > 0 {
        true => (count as f64 / pair.compared_pixels(), mean_delta_e(difference, inside)),
        false => (nearest.share, nearest.delta_e),
    };
    Some(EvidenceRegion {
        share: rounded(share),
        delta_e: rounded(delta_e),
        place: pair.screenshot_box(own),
        render_box: boxed(own, 1),
        kind: kind(hypothesis).unwrap_or(nearest.kind),
        element: page.record(hypothesis.element, alike, pair.alignment.scale),
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
    Some(match property {
        "color"
        | "background-color"
        | "background-image"
        | "border-color"
        | "border-top-color"
        | "border-bottom-color"
        | "opacity" => RegionKind::Color,
        "display" | "visibility" => RegionKind::Added,
        "font-family"
        | "font-style"
        | "font-weight"
        | "letter-spacing"
        | "text-decoration-line"
        | "text-transform" => RegionKind::Text,
        "font-size" | "width" | "height" | "size" | "line-height" => RegionKind::Resized,
        "flex-direction" | "gap" | "align-items" | "align-self" | "justify-content"
        | "text-align" => RegionKind::Moved,
        name if name.starts_with("margin") => RegionKind::Moved,
        name if name.starts_with("padding") => RegionKind::Resized,
        name if name.starts_with("border") || name == "box-shadow" => RegionKind::Shape,
        _ => return None,
    })
}

/// True if a change places content in or around an element that lacks the content of this box: it
/// brings the rest of the page into its place, and the missing content is the cause.
fn makes_space_for(page: &PageTree<'_>, hypothesis: &Hypothesis, missing: [i32; 4]) -> bool {
    let moves_content = match hypothesis.kind {
        HypothesisKind::Length { property, .. } => property.is_space(),
        HypothesisKind::Alignment => true,
        HypothesisKind::Value => false,
    };
    let Some(lacking) = innermost_around(page, missing).filter(|_| moves_content) else {
        return false;
    };
    hypothesis.change.elements.iter().any(|&element| {
        let holder = page.parent(element).unwrap_or(element);
        page.contains(lacking, element) || page.contains(holder, lacking)
    })
}

/// The smallest visible element around a box.
fn innermost_around(page: &PageTree<'_>, place: [i32; 4]) -> Option<usize> {
    let size = |index: &usize| area(page.bounds(*index));
    let around = page.visible().filter(|&index| intersection(page.bounds(index), place) == place);
    around.min_by(|one, other| size(one).total_cmp(&size(other)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{repair::changeable_length::LengthProperty as P, snapshot::PageChange};

    #[test]
    fn element_that_the_code_hides_is_missing_and_one_that_it_should_hide_is_added() {
        let kind_of = |property: &str, is: &str, value: &str| {
            let change = PageChange::declare(&[0], property, value);
            let is = is.to_owned();
            kind(&Hypothesis { element: 0, change, kind: HypothesisKind::Value, is, priority: 0.0 })
        };
        assert_eq!(kind_of("opacity", "0", "1"), Some(RegionKind::Missing));
        assert_eq!(kind_of("opacity", "0.5", "1"), Some(RegionKind::Color));
        assert_eq!(kind_of("display", "none", "flex"), Some(RegionKind::Missing));
        assert_eq!(kind_of("visibility", "hidden", "visible"), Some(RegionKind::Missing));
        assert_eq!(kind_of("visibility", "visible", "hidden"), Some(RegionKind::Added));
    }

    #[test]
    fn lengths_and_alignments_beside_missing_content_are_no_cause() {
        // A card with a text, and another one.
        let mut snapshot = Snapshot::of_texts(&[
            [0, 0, 160, 160],
            [0, 0, 160, 60],
            [10, 30, 80, 20],
            [0, 80, 160, 60],
            [10, 90, 80, 20],
        ]);
        for (element, parent) in
            snapshot.elements.iter_mut().zip([None, Some(0), Some(1), Some(0), Some(3)])
        {
            element.parent = parent;
        }
        let page = PageTree::new(&snapshot);
        let makes_space = |element: usize, kind: HypothesisKind| {
            let change = PageChange::declare(&[element], "margin-top", "20px");
            let hypothesis = Hypothesis { element, change, kind, is: String::new(), priority: 0.0 };
            // Missing in the first card, above its text.
            makes_space_for(&page, &hypothesis, [10, 5, 90, 20])
        };
        let length = |property| HypothesisKind::Length { property, delta: 20.0 };
        assert!(makes_space(2, length(P::MarginTop)), "the text below");
        assert!(makes_space(1, length(P::PaddingTop)) && makes_space(1, HypothesisKind::Alignment));
        assert!(makes_space(3, length(P::MarginTop)), "the card below");
        assert!(!makes_space(4, length(P::MarginTop)), "a text of the other card");
        assert!(!makes_space(2, length(P::FontSize)) && !makes_space(2, HypothesisKind::Value));
    }
}
