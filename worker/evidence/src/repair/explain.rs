//! Evidence with the repairs that a search has found.

use super::{
    hypothesis::Hypothesis,
    search::{FoundRepair, RepairSearch},
};
use crate::{
    color,
    difference::PixelDifference,
    measure::{PicturePair, rounded},
    page::{PageTree, area, boxed, intersection},
    regions::MAX_REGIONS,
    snapshot::Snapshot,
};
use juror_types::evidence::{AlternativeRepair, Evidence, EvidenceRegion, RegionKind};

/// Share of a region's pixels that still differ after the repairs which explain it, at most.
const REMAINING: f64 = 0.1;

impl RepairSearch {
    /// Adds what was found to the evidence of the pair that the search began with: repaired elements come
    /// first, then the regions that the repairs do not take away.
    pub fn finish(self, pair: &PicturePair<'_>, snapshot: &Snapshot, evidence: &mut Evidence) {
        if evidence.regions.is_empty() || self.is_over() && self.drawn() == 0 {
            return;
        }
        let was_tried = self.drawn() > 0;
        let before = PixelDifference::new(pair.screenshot(), pair.drawing(), pair.noise());
        let (found, explained, remaining) = self.into_found();
        evidence.explained = was_tried.then(|| rounded(explained));
        let page = PageTree::new(snapshot);
        let causes: Vec<EvidenceRegion> =
            found.iter().filter_map(|repair| cause(repair, pair, &page, evidence)).collect();
        let is_cause = |region: &EvidenceRegion| {
            causes.iter().any(|cause| cause.render_box == region.render_box)
        };
        let is_repaired = |region: &EvidenceRegion| {
            let bounds = bounds(region);
            remaining.count_in(bounds) as f64 <= REMAINING * before.count_in(bounds) as f64
        };
        evidence.regions.retain(|region| !is_cause(region) && !is_repaired(region));
        evidence.regions.splice(0..0, causes);
        evidence.regions.truncate(MAX_REGIONS);
    }
}

/// Left, top, right and bottom in pixels of the drawing.
fn bounds(region: &EvidenceRegion) -> [i32; 4] {
    let [x, y, width, height] = region.render_box.map(|side| side as i32);
    [x, y, x + width, y + height]
}

/// The region of a repaired element.
fn cause(
    repair: &FoundRepair,
    pair: &PicturePair<'_>,
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
    Some(EvidenceRegion {
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
    let kinds = [
        ("color", RegionKind::Color),
        ("background-color", RegionKind::Color),
        ("border-color", RegionKind::Color),
        ("border-top-color", RegionKind::Color),
        ("border-bottom-color", RegionKind::Color),
        ("opacity", RegionKind::Color),
        ("display", RegionKind::Added),
        ("font-weight", RegionKind::Text),
        ("letter-spacing", RegionKind::Text),
        ("text-transform", RegionKind::Text),
        ("font-size", RegionKind::Resized),
        ("width", RegionKind::Resized),
        ("height", RegionKind::Resized),
        ("line-height", RegionKind::Resized),
        ("gap", RegionKind::Moved),
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
