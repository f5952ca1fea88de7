//! Corners of boxes that are rounded otherwise than in the screenshot. Each browser draws the pixels
//! of a curve in its own way, but none puts the curve elsewhere.

use crate::{
    bounds::{corners_of, grown, intersection, pixels_of, shifts_within, shorter_side, size_of},
    connected_areas::MarkedArea,
    element_tree::PageTree,
    pair_noise::{MAX_NOISY_SHIFT, PairNoise},
    raster::{ColorRange, Raster, channel_difference},
};

/// Minimum side of a box whose corners are compared, in pixels.
const MIN_SIDE: i32 = 12;
/// Maximum length of a corner along both sides, in pixels.
const MAX_LEG: i32 = 44;
/// Length of a corner beyond its radius, and its minimum, in pixels.
const BEYOND_RADIUS: i32 = 4;
const MIN_LEG: i32 = 10;
/// Distance from a corner to the parts of both sides that tell where the box is, and their length
/// and half their width, in pixels.
const TO_SIDES: i32 = 8;
const SIDE_LENGTH: i32 = 6;
const SIDE_WIDTH: i32 = 2;
/// Maximum number of pixels of a side that differ although the box is there.
const MAX_SIDE_PIXELS: usize = 3;
/// Minimum contrast of a corner, in levels.
const MIN_CONTRAST: u8 = 12;
/// Minimum number of pixels of a corner that differ by half of its contrast.
const MIN_DIFFERING: usize = 4;
/// Minimum number of corners that differ with a box's radius: one may be covered.
const MIN_CORNERS: usize = 3;
/// Distance at which smoothed pictures still differ, in pixels.
const BLUR: i32 = 2;

/// The corner of a box: the triangle between both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CornerArea {
    corner: [i32; 2],
    /// Direction of the box from its corner: 1 or -1, across and down.
    inward: [i32; 2],
    /// Length of the triangle along both sides.
    leg: i32,
}

impl CornerArea {
    /// The corners of an element; none of a small one.
    fn of_element(page: &PageTree<'_>, index: usize) -> Option<[Self; 4]> {
        let bounds = page.painted_bounds(index);
        let half = shorter_side(bounds) / 2;
        let radius = page.length(index, "border-top-left-radius").unwrap_or(f64::from(half));
        let radius = (radius * page.snapshot.scale) as i32;
        let leg = (radius.min(half) + BEYOND_RADIUS).max(MIN_LEG).min(half).min(MAX_LEG);
        let corners = corners_of(bounds).map(|(corner, inward)| Self { corner, inward, leg });
        (2 * half >= MIN_SIDE).then_some(corners)
    }

    /// True if a pixel is part of it, or is smoothed with such pixels.
    pub fn contains(&self, x: i32, y: i32) -> bool {
        let ([left, top], [right, down]) = (self.corner, self.inward);
        let (across, along) = ((x - left) * right, (y - top) * down);
        across >= -BLUR && along >= -BLUR && across + along < self.leg + BLUR
    }

    /// True if all of an area may be part of it.
    pub fn covers(&self, area: &MarkedArea) -> bool {
        let ([x, y], [right, down]) = (self.corner, self.inward);
        let end = [x + right * self.leg, y + down * self.leg];
        let own = [x.min(end[0]), y.min(end[1]), x.max(end[0]) + 1, y.max(end[1]) + 1];
        intersection(area.bounds, grown(own, BLUR)) == area.bounds
    }

    fn place(&self, across: i32, down: i32) -> [i32; 2] {
        let ([x, y], [right, below]) = (self.corner, self.inward);
        [x + right * across, y + below * down]
    }

    fn places(&self) -> impl Iterator<Item = [i32; 2]> {
        let rows = (0..self.leg).flat_map(|down| (0..self.leg - down).map(move |at| (at, down)));
        rows.map(|(across, down)| self.place(across, down))
    }

    /// Places on both sides of the box beside its corner, each side alone; those of a short side are
    /// none, since they belong to its other corner.
    fn sides(&self, [width, height]: [i32; 2]) -> [Vec<[i32; 2]>; 2] {
        let start = self.leg + TO_SIDES;
        let is_long = |length: i32| length >= 2 * (start + SIDE_LENGTH);
        let end = |length: i32| if is_long(length) { start + SIDE_LENGTH } else { start };
        let (from, to) = (-SIDE_WIDTH, SIDE_WIDTH + 1);
        let sides = [[start, from, end(width), to], [from, start, to, end(height)]];
        sides.map(|side| pixels_of(side).map(|[across, down]| self.place(across, down)).collect())
    }
}

/// The corners of each box that the screenshot shows in its place with another radius.
pub(crate) fn boxes_of_other_radius(
    screenshot: &Raster,
    drawing: &Raster,
    noise: &PairNoise,
    page: &PageTree<'_>,
) -> Vec<[CornerArea; 4]> {
    // Compression changes colors beside edges; other browsers draw flat areas alike.
    let flat_levels = if noise.has_edges_in_place { noise.flat_levels } else { 0 };
    let pair = CornerPair { screenshot, drawing, flat_levels };
    let painted = page.visible().filter(|&index| page.is_painted(index));
    let boxes = painted.filter_map(|index| {
        let corners = CornerArea::of_element(page, index)?;
        let size = size_of(page.painted_bounds(index));
        let differing = corners.iter().filter(|corner| pair.has_other_radius(corner, size)).count();
        (differing >= MIN_CORNERS).then_some(corners)
    });
    boxes.collect()
}

struct CornerPair<'pair> {
    screenshot: &'pair Raster,
    drawing: &'pair Raster,
    /// Levels by which flat areas may differ.
    flat_levels: u8,
}

impl CornerPair<'_> {
    /// True if the corner's sides are in their places, within the noise, and its curve is not.
    fn has_other_radius(&self, corner: &CornerArea, size: [i32; 2]) -> bool {
        let Some(limit) = self.half_of_contrast(corner.places()) else { return false };
        let [horizontal, vertical] = corner.sides(size);
        if horizontal.is_empty() && vertical.is_empty() {
            return false;
        }
        let is_at = |places: &[[i32; 2]], shift: [i32; 2]| {
            self.differing(places.iter().copied(), shift, limit, MAX_SIDE_PIXELS) <= MAX_SIDE_PIXELS
        };
        let mut is_in_place = false;
        for shift in noisy_shifts() {
            if is_at(&horizontal, shift) && is_at(&vertical, shift) {
                is_in_place = true;
                if self.differing(corner.places(), shift, limit, MIN_DIFFERING) < MIN_DIFFERING {
                    return false;
                }
            }
        }
        is_in_place
    }

    /// Half of the contrast of these places in the drawing, in levels; `None` if it may be noise.
    fn half_of_contrast(&self, places: impl Iterator<Item = [i32; 2]>) -> Option<u8> {
        let colors = places.filter_map(|[x, y]| self.drawing.get(x, y));
        let ColorRange { low, high } = ColorRange::of(colors)?;
        let contrast = channel_difference(low, high);
        (contrast >= MIN_CONTRAST && contrast / 2 > self.flat_levels).then_some(contrast / 2)
    }

    /// Number of places that differ by more than a limit from the screenshot's, `shift` farther;
    /// counting ends beyond `enough`.
    fn differing(
        &self,
        places: impl Iterator<Item = [i32; 2]>,
        [right, down]: [i32; 2],
        limit: u8,
        enough: usize,
    ) -> usize {
        let differs = |[x, y]: &[i32; 2]| {
            let pair = self.drawing.get(*x, *y).zip(self.screenshot.get(x + right, y + down));
            pair.is_none_or(|(drawn, shown)| channel_difference(drawn, shown) > limit)
        };
        places.filter(differs).take(enough + 1).count()
    }
}

/// Shifts that other browsers cause, none first.
fn noisy_shifts() -> impl Iterator<Item = [i32; 2]> {
    let all = shifts_within([MAX_NOISY_SHIFT; 2]);
    std::iter::once([0, 0]).chain(all.filter(|shift| *shift != [0, 0]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::Snapshot;

    /// A faint border around a box, with corners of this radius.
    fn rounded(radius: i32, [left, top]: [i32; 2]) -> Raster {
        let mut picture = Raster::filled(160, 120, [250; 3]);
        for y in 0..80 {
            for x in 0..120 {
                let inner = [radius.max(x.min(119 - x)), radius.max(y.min(79 - y))];
                let [across, down] =
                    [inner[0] - x.min(119 - x), inner[1] - y.min(79 - y)].map(f64::from);
                let distance = f64::from(radius) - across.hypot(down);
                let is_border = (-0.5..1.0).contains(&distance)
                    || (x.min(119 - x) == 0 && across == 0.0)
                    || (y.min(79 - y) == 0 && down == 0.0);
                if is_border {
                    picture.fill([(left + x) as u32, (top + y) as u32, 1, 1], [226; 3]);
                }
            }
        }
        picture
    }

    #[test]
    fn another_radius_is_told_from_a_shifted_box_and_from_a_blurred_one() {
        let mut snapshot = Snapshot::of_texts(&[[20, 20, 120, 80]]);
        for element in &mut snapshot.elements {
            let styles = [("border-top-width", "1px"), ("border-top-left-radius", "12px")];
            element.styles.extend(styles.map(|(name, value)| (name.to_owned(), value.to_owned())));
        }
        let page = PageTree::new(&snapshot);
        let drawing = rounded(12, [20, 20]);
        let count =
            |shown: &Raster| boxes_of_other_radius(shown, &drawing, &PairNoise::USUAL, &page).len();
        assert_eq!(count(&drawing), 0);
        assert_eq!(count(&rounded(12, [22, 19])), 0, "shifted");
        assert_eq!(count(&rounded(12, [29, 20])), 0, "elsewhere");
        assert_eq!(count(&rounded(18, [20, 20])), 1);
        assert_eq!(count(&rounded(6, [21, 20])), 1);
        for (noise, seen) in [(PairNoise::USUAL, 1), (PairNoise::IN_PLACE, 0)] {
            let noise = PairNoise { flat_levels: 14, ..noise };
            let found = boxes_of_other_radius(&rounded(18, [20, 20]), &drawing, &noise, &page);
            assert_eq!(found.len(), seen, "compression may make a faint border");
        }
        let mut covered = rounded(18, [20, 20]);
        let corner = drawing.window([0, 0], [40, 40], [250; 3]);
        for (x, y) in (0..40).flat_map(|y| (0..40).map(move |x| (x, y))) {
            covered.fill([x, y, 1, 1], corner.at(x as i32, y as i32));
        }
        assert_eq!(count(&covered), 1, "one corner is as in the drawing");
    }
}
