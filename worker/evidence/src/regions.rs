//! Regions in which two pictures differ, in reading order. Those whose cause is found come first
//! afterwards, by `repair/repair_search/regions_of_repairs.rs`.

use crate::{
    bounds::{area, intersection, pixels_of, shorter_side},
    color::delta_e,
    connected_areas::{MarkedArea, connected_areas},
    corners::CornerArea,
    difference::PixelDifference,
    element_tree::PageTree,
    ink::{InkArea, has_other_ink},
    pair_noise::PairNoise,
    raster::Rgb,
    region_kind::{classify, far_shift_of, shift_of},
    shapes::{DrawnShape, contours_of},
};
use juror_types::evidence::RegionKind;

/// Maximum number of regions of an evidence record.
pub(crate) const MAX_REGIONS: usize = 8;
/// Gaps within a region, in cells of four pixels: tried in order until few enough regions remain.
const GAPS: [i32; 4] = [2, 4, 8, 16];
/// Minimum number of differing pixels of a region in a noisy pair.
const MIN_NOISY_PIXELS: u32 = 64;
/// Maximum share of a region's differing pixels beside a border that alone differs.
const MAX_ASIDE: f64 = 0.02;
/// Maximum number of a region's pixels that its mean color difference is sampled from.
const MAX_SAMPLES: usize = 4096;

/// An area in which the pictures differ.
#[derive(Clone, Debug)]
pub(crate) struct DifferenceRegion {
    /// Left, top, right, bottom in pixels of the drawing.
    pub bounds: [i32; 4],
    /// Number of pixels that differ.
    pub count: u32,
    pub delta_e: f64,
    pub kind: RegionKind,
    /// Shift from the screenshot's place to the drawing's.
    pub moved_by: Option<[i32; 2]>,
    /// The element whose box fits best.
    pub element: Option<usize>,
}

/// The regions of a pair, in reading order.
pub(crate) fn find_regions(
    difference: &PixelDifference<'_>,
    noise: &PairNoise,
    page: Option<&PageTree<'_>>,
) -> Vec<DifferenceRegion> {
    let mut areas = Vec::new();
    for gap in GAPS {
        areas = differing_areas(difference, noise, gap);
        if areas.len() <= MAX_REGIONS {
            break;
        }
    }
    areas.sort_by_key(|area| std::cmp::Reverse(area.weight));
    areas.truncate(MAX_REGIONS);
    areas.sort_by_key(|area| {
        let [left, top, ..] = area.bounds;
        (top / 8, left)
    });
    if areas.is_empty() {
        return Vec::new();
    }
    let shapes = [difference.screenshot, difference.drawing].map(contours_of);
    let regions = areas.iter().map(|area| region(area, difference, &shapes, page));
    let is_noise = |found: &DifferenceRegion| {
        !noise.is_none()
            && (is_slightly_moved(found, noise)
                || page.is_some_and(|page| is_broken_border(found, difference, page)))
    };
    regions.filter(|found| !is_noise(found)).collect()
}

/// True if nothing of a difference is large enough to be told from the noise of the pair.
pub(crate) fn is_lost_in_noise(difference: &PixelDifference<'_>, noise: &PairNoise) -> bool {
    let [gap, ..] = GAPS;
    !noise.is_none() && differing_areas(difference, noise, gap).is_empty()
}

/// Mean color difference of the differing pixels of a box.
pub(crate) fn mean_delta_e(difference: &PixelDifference<'_>, bounds: [i32; 4]) -> f64 {
    let (screenshot, drawing) = (difference.screenshot, difference.drawing);
    let differing = pixels_of(bounds).filter(|&[x, y]| difference.at(x, y) > 0);
    let pairs = differing.map(|[x, y]| (screenshot.at(x, y), drawing.at(x, y)));
    let pairs: Vec<(Rgb, Rgb)> = pairs.collect();
    let step = pairs.len().div_ceil(MAX_SAMPLES).max(1);
    let (mut total, mut count, mut last) = (0.0, 0usize, None);
    for &pair in pairs.iter().step_by(step) {
        // Neighbors are mostly equal and CIEDE2000 is slow, so the last value is reused.
        let value = match last {
            Some((known, value)) if known == pair => value,
            _ => delta_e(pair.0, pair.1),
        };
        last = Some((pair, value));
        total += value;
        count += 1;
    }
    total / count.max(1) as f64
}

/// Connected areas that differ beyond the noise, joined across at most `gap` cells.
fn differing_areas(
    difference: &PixelDifference<'_>,
    noise: &PairNoise,
    gap: i32,
) -> Vec<MarkedArea> {
    let areas = connected_areas(&difference.weights, difference.drawing.width(), gap);
    if noise.is_none() {
        return areas;
    }
    let (mut large, small): (Vec<_>, Vec<_>) = areas.into_iter().partition(is_beyond_noise);
    let corners_of_box = |corners: &[CornerArea; 4]| {
        let own = small.iter().filter(|area| corners.iter().any(|corner| corner.covers(area)));
        own.copied().reduce(MarkedArea::joined)
    };
    large.extend(difference.other_corners.iter().filter_map(corners_of_box));
    large
}

fn is_slightly_moved(found: &DifferenceRegion, noise: &PairNoise) -> bool {
    found.moved_by.is_some_and(|way| way.iter().all(|part| part.abs() <= noise.max_shift()))
}

/// True if a region is the border of an element whose dashes or dots each browser spaces otherwise.
fn is_broken_border(
    found: &DifferenceRegion,
    difference: &PixelDifference<'_>,
    page: &PageTree<'_>,
) -> bool {
    let is_broken =
        |index: &usize| ["dashed", "dotted"].contains(&page.style(*index, "border-top-style"));
    let Some(element) = found.element.filter(is_broken) else { return false };
    let Some(border) = InkArea::of_border(page, element) else { return false };
    // Both pictures are smoothed.
    let aside = pixels_of(found.bounds)
        .filter(|&[x, y]| difference.at(x, y) > 0 && !border.contains(x, y))
        .count();
    aside as f64 <= MAX_ASIDE * f64::from(found.count)
        && !has_other_ink(border, difference.screenshot, difference.drawing)
}

fn is_beyond_noise(area: &MarkedArea) -> bool {
    area.count >= MIN_NOISY_PIXELS && shorter_side(area.bounds) >= 3
}

fn region(
    found: &MarkedArea,
    difference: &PixelDifference<'_>,
    shapes: &[Vec<DrawnShape>; 2],
    page: Option<&PageTree<'_>>,
) -> DifferenceRegion {
    let bounds = found.bounds;
    let element = page.and_then(|page| best_fit(page, bounds));
    let has_text = page.zip(element).is_some_and(|(page, element)| page.has_text(element));
    let near = shift_of(difference.screenshot, difference.drawing, bounds);
    let classified = || classify(difference, shapes, bounds, has_text);
    let kind = near.map_or_else(classified, |_| RegionKind::Moved);
    let (kind, shift) = match kind {
        RegionKind::Moved | RegionKind::Color => (kind, near),
        _ => far_shift_of(difference, bounds)
            .map_or((kind, None), |shift| (RegionKind::Moved, Some(shift))),
    };
    DifferenceRegion {
        bounds,
        count: found.count,
        delta_e: mean_delta_e(difference, bounds),
        kind,
        moved_by: shift.map(|[x, y]| [-x, -y]),
        element,
    }
}

/// The visible element whose box is most like a region's.
fn best_fit(page: &PageTree<'_>, bounds: [i32; 4]) -> Option<usize> {
    let overlap = |index: usize| {
        let own = page.bounds(index);
        let shared = area(intersection(own, bounds));
        let union = area(own) + area(bounds) - shared;
        if union > 0.0 { shared / union } else { 0.0 }
    };
    let fits = page.visible().map(|index| (index, overlap(index))).filter(|(_, fit)| *fit > 0.0);
    fits.max_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        raster::Raster,
        snapshot::{Snapshot, SnapshotElement},
    };

    fn lines(down: u32) -> Raster {
        let mut picture = Raster::filled(120, 80, [255; 3]);
        for word in 0..8 {
            picture.fill([10 + word * 9, 20 + down, 4 + word % 5, 8 + word % 3], [20; 3]);
        }
        picture
    }

    fn count(screenshot: &Raster, drawing: &Raster, noise: &PairNoise, style: &str) -> usize {
        let border = [("border-top-style", style), ("border-top-width", "2px")];
        let label = SnapshotElement::of_box(0, None, [10.0, 10.0, 100.0, 60.0], &border);
        let snapshot = Snapshot::of_page([120, 80], vec![label]);
        let page = PageTree::new(&snapshot);
        let difference = PixelDifference::new(screenshot, drawing, noise);
        find_regions(&difference, noise, Some(&page)).len()
    }

    #[test]
    fn a_shift_of_another_browser_is_noise_and_a_larger_one_is_not() {
        let drawing = lines(0);
        assert_eq!(count(&lines(2), &drawing, &PairNoise::NONE, "solid"), 1);
        assert_eq!(count(&lines(2), &drawing, &PairNoise::USUAL, "solid"), 0);
        assert_eq!(count(&lines(6), &drawing, &PairNoise::USUAL, "solid"), 1);
    }

    #[test]
    fn dashes_of_another_browser_are_noise_and_what_they_surround_is_not() {
        let dashed = |begin: u32| {
            let mut picture = Raster::filled(120, 80, [255; 3]);
            for at in (10 + begin..104).step_by(14) {
                picture.fill([at, 10, 7, 2], [90; 3]);
                picture.fill([at, 68, 7, 2], [90; 3]);
            }
            picture.fill([10, 10, 2, 60], [90; 3]);
            picture.fill([108, 10, 2, 60], [90; 3]);
            picture
        };
        let (drawing, mut shown) = (dashed(0), dashed(7));
        assert!(count(&shown, &drawing, &PairNoise::USUAL, "solid") > 0);
        assert_eq!(count(&shown, &drawing, &PairNoise::USUAL, "dashed"), 0);
        shown.fill([12, 12, 96, 56], [200, 220, 255]);
        assert_eq!(count(&shown, &drawing, &PairNoise::USUAL, "dashed"), 1);
    }
}
