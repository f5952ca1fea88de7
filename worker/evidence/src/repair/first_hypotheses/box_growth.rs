//! Hypotheses for boxes of another size in the screenshot: growth in both directions comes from the
//! box's own styles, and growth in one may come from stretching.

use super::FirstHypotheses;
use crate::{
    bounds::area,
    color::most_frequent,
    difference::TOLERANCE,
    raster::{Rgb, channel_difference},
    repair::{changeable_length::LengthProperty as P, hypothesis::Hypothesis, shift_field::REACH},
};

/// Maximum number of boxes, the smallest first.
const MAX_BOXES: usize = 6;
/// Places along a side, in hundredths of its length, at which its shift is measured.
const PLACES: [i32; 9] = [20, 30, 40, 45, 50, 55, 60, 70, 80];
/// Minimum number of places that agree.
const MIN_PLACES: usize = 3;
/// Likelihood of a padding that makes a box grow in both directions, and in one.
const BOTH: f64 = 0.72;
const ONE: f64 = 0.6;
/// Tags of elements that are drawn in the size of their box.
const IMAGE_TAGS: [&str; 2] = ["img", "svg"];
/// First change of an image's side, in CSS pixels: the usual step of such sizes.
const IMAGE_STEP: f64 = 4.0;
/// Likelihood of both sides together, as icons have them, of a height, which moves what is below,
/// and of a width.
const IMAGE_SIZES: [(P, f64); 3] = [(P::Size, 0.82), (P::Height, 0.6), (P::Width, 0.58)];

impl FirstHypotheses<'_> {
    /// Hypotheses that explain grown boxes by padding, line height or border width.
    pub(super) fn grown_boxes(&self) -> Vec<Hypothesis> {
        let grown = self.page.visible().filter(|&index| self.page.is_painted(index));
        let mut grown: Vec<(usize, [f64; 2])> =
            grown.filter_map(|index| Some((index, self.box_growth(index)?))).collect();
        // Boxes that grow in both directions first, then the smaller ones.
        grown.sort_by(|(one, by), (other, other_by)| {
            let is_stretched = |by: &[f64; 2]| by.contains(&0.0);
            let size = |index: usize| area(self.page.bounds(index));
            is_stretched(by).cmp(&is_stretched(other_by)).then(size(*one).total_cmp(&size(*other)))
        });
        let mut found = Vec::new();
        for (place, &(index, by)) in grown.iter().take(MAX_BOXES).enumerate() {
            // Multi-line texts rewrap, so similar boxes may grow by different amounts.
            let is_both = |by: [f64; 2]| !by.contains(&0.0);
            let is_same = |&other: &usize| {
                self.box_growth(other)
                    .is_some_and(|other| other == by || is_both(other) && is_both(by))
            };
            let members = self.all_or_one(index, is_same);
            let later = 0.03 * place as f64;
            found.extend(self.growth_of(index, &members, by, 0.0 - later));
            if members.len() > 1 {
                found.extend(self.growth_of(index, &[index], by, -0.1 - later));
            }
        }
        found
    }

    fn growth_of(
        &self,
        index: usize,
        elements: &[usize],
        [across, down]: [f64; 2],
        later: f64,
    ) -> Vec<Hypothesis> {
        let [inline, block] = [across / 2.0, down / 2.0];
        let has_border = P::BorderWidth.length(self.page, index) > 0.0;
        let is_even = (across - down).abs() < 1.0;
        let changes = match [across != 0.0, down != 0.0] {
            [true, true] => vec![
                Some((P::Padding, block, BOTH)),
                (is_even && has_border).then_some((P::BorderWidth, block, BOTH + 0.02)),
                (!is_even).then_some((P::Padding, inline, BOTH - 0.02)),
            ],
            [true, false] => vec![Some((P::PaddingInline, inline, ONE))],
            [false, true] => vec![
                self.page.has_text(index).then_some((P::LineHeight, down, ONE + 0.02)),
                Some((P::Padding, block, ONE + 0.01)),
                Some((P::PaddingBlock, block, ONE)),
            ],
            [false, false] => Vec::new(),
        };
        let changes = changes.into_iter().flatten();
        self.lengths(elements, changes.map(|(property, by, likely)| (property, by, likely + later)))
            .collect()
    }

    /// Sizes of images that the screenshot shows otherwise.
    pub(super) fn image_sizes(&self, differing: &[usize]) -> Vec<Hypothesis> {
        let resized = differing.iter().filter(|index| self.is_resized_image(**index));
        let changes = IMAGE_SIZES.into_iter().flat_map(|(property, likely)| {
            [(property, IMAGE_STEP, likely), (property, -IMAGE_STEP, likely - 0.01)]
        });
        let mut found = Vec::new();
        for &index in resized {
            found.extend(self.lengths(&self.members(index), changes.clone()));
        }
        found
    }

    /// True if the screenshot does not show the image's patches moved together.
    fn is_resized_image(&self, index: usize) -> bool {
        if !IMAGE_TAGS.contains(&self.page.tag(index)) {
            return false;
        }
        let own = || self.field.patches.iter().filter(|patch| patch.element == index);
        let first = own().next().map(|patch| patch.target);
        let is_redrawn = self.is_exact && own().any(|patch| !patch.is_exact);
        is_redrawn || own().any(|patch| patch.target.is_none() || Some(patch.target) != first)
    }

    /// Growth of a painted box across and down, in CSS pixels; `None` if it is the same or is not
    /// seen.
    fn box_growth(&self, index: usize) -> Option<[f64; 2]> {
        self.measured_growth(index).filter(|by| *by != [0.0, 0.0])
    }

    /// Growth of a painted box across and down, in CSS pixels; `None` if it is not seen.
    pub(super) fn measured_growth(&self, index: usize) -> Option<[f64; 2]> {
        let scale = self.page.snapshot.scale.max(0.1);
        let by = [0, 1].map(|axis: usize| {
            let [near, far] = [false, true].map(|is_far| {
                self.edge_shift(index, axis, is_far)
                    .or_else(|| self.corner_shift(index, axis, is_far))
            });
            Some(f64::from(far? - near?) / scale)
        });
        let [across, down] = by;
        Some([across?, down?])
    }

    /// Shift of a side of a box, across (0) or down (1), by the pixels on both sides of it.
    fn edge_shift(&self, index: usize, axis: usize, is_far: bool) -> Option<i32> {
        let [left, top, right, bottom] = self.page.painted_bounds(index);
        let (edge, way) = match (axis, is_far) {
            (0, false) => (left, 1),
            (0, true) => (right - 1, -1),
            (_, false) => (top, 1),
            (_, true) => (bottom - 1, -1),
        };
        let [from, length] = if axis == 0 { [top, bottom - top] } else { [left, right - left] };
        let shifts = PLACES.iter().filter_map(|place| {
            let along = from + length * place / 100;
            let at = |across: i32| if axis == 0 { [across, along] } else { [along, across] };
            self.shift_between(at(edge - way), at(edge), axis)
        });
        let mut shifts: Vec<i32> = shifts.collect();
        let (most, places) = most_frequent(&mut shifts)?;
        (places >= MIN_PLACES).then_some(most)
    }

    /// Shift along an axis to the nearest place that shows the colors of two pixels of the drawing;
    /// `None` if they are alike.
    fn shift_between(&self, outer: [i32; 2], inner: [i32; 2], axis: usize) -> Option<i32> {
        let color = |[x, y]: [i32; 2]| self.drawing.get(x, y);
        let (outside, inside) = (color(outer)?, color(inner)?);
        let contrast = channel_difference(outside, inside);
        if contrast <= 2 * TOLERANCE {
            return None;
        }
        let tolerance = (contrast / 4).max(self.tolerance);
        let shows = |[x, y]: [i32; 2], by: i32, expected: Rgb| {
            let [x, y] = if axis == 0 { [x + by, y] } else { [x, y + by] };
            let shown = self.screenshot.get(x, y);
            shown.is_some_and(|shown| channel_difference(shown, expected) <= tolerance)
        };
        let mut nearest = (0..=REACH).flat_map(|by| [by, -by]);
        nearest.find(|&by| shows(outer, by, outside) && shows(inner, by, inside))
    }

    /// Shift of a side along an axis, by the corners of the box that are found; `None` without one.
    fn corner_shift(&self, index: usize, axis: usize, is_far: bool) -> Option<i32> {
        let [left, top, right, bottom] = self.page.bounds(index);
        let middle = [(left + right) / 2, (top + bottom) / 2];
        let shifts = self.field.corners_of(index).filter_map(|patch| {
            let is_own = (patch.center.get(axis)? > middle.get(axis)?) == is_far;
            is_own.then_some(*patch.target?.get(axis)?)
        });
        shifts.min_by_key(|shift| shift.abs())
    }
}
