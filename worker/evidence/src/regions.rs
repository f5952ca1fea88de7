//! Regions in which two pictures differ.

use crate::{
    color::delta_e,
    components::{MarkedArea, connected_areas},
    difference::PixelDifference,
    noise::PairNoise,
    page::{PageTree, area, intersection},
    raster::{Raster, Rgb},
    region_kind::{PairShapes, classify, shift_of},
    shapes::contours_of,
};
use juror_types::evidence::RegionKind;

/// Maximum number of regions of an evidence record.
pub(crate) const MAX_REGIONS: usize = 8;
/// Gaps within a region, in cells of four pixels: tried in order until few enough regions remain.
const GAPS: [i32; 4] = [2, 4, 8, 16];
/// Minimum number of differing pixels of a region in a noisy pair.
const MIN_NOISY_PIXELS: u32 = 64;
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
    screenshot: &Raster,
    drawing: &Raster,
    difference: &PixelDifference,
    noise: &PairNoise,
    page: Option<&PageTree<'_>>,
) -> Vec<DifferenceRegion> {
    let mut areas = Vec::new();
    for gap in GAPS {
        areas = connected_areas(difference.weights(), difference.width, gap);
        if !noise.is_none() {
            areas.retain(is_beyond_noise);
        }
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
    let shapes = PairShapes { screenshot: contours_of(screenshot), drawing: contours_of(drawing) };
    areas.iter().map(|area| region(area, screenshot, drawing, difference, &shapes, page)).collect()
}

fn is_beyond_noise(area: &MarkedArea) -> bool {
    let [left, top, right, bottom] = area.bounds;
    let thinnest = (right - left).min(bottom - top);
    area.count >= MIN_NOISY_PIXELS && thinnest >= 3
}

fn region(
    found: &MarkedArea,
    screenshot: &Raster,
    drawing: &Raster,
    difference: &PixelDifference,
    shapes: &PairShapes,
    page: Option<&PageTree<'_>>,
) -> DifferenceRegion {
    let bounds = found.bounds;
    let element = page.and_then(|page| best_fit(page, bounds));
    let has_text = page.zip(element).and_then(|(page, element)| page.element(element));
    let has_text = has_text.is_some_and(|element| !element.text.is_empty());
    let shift = shift_of(screenshot, drawing, bounds);
    let kind = match shift {
        Some(_) => RegionKind::Moved,
        None => classify(screenshot, drawing, difference, shapes, bounds, has_text),
    };
    DifferenceRegion {
        bounds,
        count: found.count,
        delta_e: mean_delta_e(screenshot, drawing, difference, bounds),
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

/// Mean color difference of the differing pixels of a box.
pub(crate) fn mean_delta_e(
    screenshot: &Raster,
    drawing: &Raster,
    difference: &PixelDifference,
    [left, top, right, bottom]: [i32; 4],
) -> f64 {
    let mut pairs: Vec<(Rgb, Rgb)> = Vec::new();
    for y in top..bottom {
        let row = (left..right).filter(|&x| difference.at(x, y) > 0);
        pairs.extend(row.map(|x| (screenshot.at(x, y), drawing.at(x, y))));
    }
    let step = pairs.len().div_ceil(MAX_SAMPLES).max(1);
    let (mut total, mut count, mut last) = (0.0, 0usize, None);
    for &pair in pairs.iter().step_by(step) {
        // Neighbors are mostly alike, and a color difference is dear.
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
