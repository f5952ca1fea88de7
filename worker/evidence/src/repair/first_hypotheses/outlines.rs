//! First hypotheses for the outline of a box: its border, its corners and its shadow.

use super::FirstHypotheses;
use crate::{
    bounds::{area, grown, intersection, shorter_side},
    repair::{changeable_length::LengthProperty as P, hypothesis::Hypothesis, shadow::shadows},
};

/// Maximum side of the square in which a corner is compared, in pixels.
const MAX_CORNER: i32 = 24;
/// Thickness of the strips along a box's edges in which a shadow is looked for, in pixels.
const STRIP: i32 = 2;

impl FirstHypotheses<'_> {
    /// Borders, radii and shadows of boxes whose edges differ.
    pub(super) fn outlines(&self, differing: &[usize]) -> Vec<Hypothesis> {
        let mut found = Vec::new();
        for &index in differing {
            let has_image = self.page.element(index).is_some_and(|e| e.image.is_some());
            if has_image || self.page.is_painted(index) {
                found.extend(self.corners_and_borders(index));
                found.extend(self.box_shadows(index));
            }
        }
        found
    }

    fn corners_and_borders(&self, index: usize) -> Vec<Hypothesis> {
        let bounds = self.page.bounds(index);
        let inner = self.difference.weight_in(grown(bounds, -6));
        let own = self.difference.weight_in(grown(bounds, 1));
        let corners = self.corner_weight(bounds, self.total);
        let elements = self.members(index);
        let mut changes = Vec::new();
        if corners > 0 {
            let part = if corners * 10 >= own * 7 { 1.0 } else { 0.2 };
            let likely = 0.9 * (self.members_share(&elements, corners) * part);
            changes.extend([4.0, -4.0].map(|delta| (P::BorderRadius, delta, likely)));
        }
        let outline = own.saturating_sub(inner);
        let has_border = P::BorderWidth.length(self.page, index) > 0.0;
        if outline > 0 && (has_border || outline * 2 > own) {
            let shown = 0.6 * self.members_share(&elements, outline);
            let likely = if has_border { shown.max(0.63) } else { shown };
            changes.push((P::BorderWidth, 1.0, likely));
            changes.push((P::BorderWidth, -1.0, likely - 0.02));
        }
        self.lengths(&elements, changes).collect()
    }

    fn box_shadows(&self, index: usize) -> Vec<Hypothesis> {
        let bounds = self.page.bounds(index);
        let own = self.difference.weight_in(grown(bounds, 1));
        let halo = self.difference.weight_in(grown(bounds, 40));
        let sides = self.sides_with_shadow_difference(index);
        if halo <= own || sides == 0 {
            return Vec::new();
        }
        let elements =
            self.all_or_one(index, |&other| self.sides_with_shadow_difference(other) > 1);
        let seen = if sides > 1 { 0.8 } else { 0.4 };
        let likely = seen * self.members_share(&self.members(index), halo.saturating_sub(own));
        let values = shadows(self.page.style(index, "box-shadow")).into_iter().enumerate();
        let proposed = values.filter_map(|(place, shadow)| {
            self.value(&elements, "box-shadow", &shadow, likely - place as f64 * 0.02)
        });
        proposed.collect()
    }

    /// Share of all differences, if each of these elements has as many as one of them.
    fn members_share(&self, members: &[usize], weight: u64) -> f64 {
        (self.share(weight) * members.len() as f64).min(1.0)
    }

    /// Number of sides of a box along whose outside the pictures differ, as another shadow causes.
    fn sides_with_shadow_difference(&self, index: usize) -> usize {
        let [left, top, right, bottom] = self.page.painted_bounds(index);
        let strips = [
            [left, bottom, right, bottom + STRIP],
            [left, top - STRIP, right, top],
            [left - STRIP, top, left, bottom],
            [right, top, right + STRIP, bottom],
        ];
        let is_other = |strip: &&[i32; 4]| {
            let differing = self.difference.count_in(**strip);
            differing > 0 && differing as f64 * 2.0 >= area(**strip)
        };
        strips.iter().filter(is_other).count()
    }

    fn corner_weight(&self, bounds: [i32; 4], most: u64) -> u64 {
        let side = (shorter_side(bounds) / 2).clamp(1, MAX_CORNER);
        let [left, top, right, bottom] = bounds;
        let corners = [
            [left, top, left + side, top + side],
            [right - side, top, right, top + side],
            [left, bottom - side, left + side, bottom],
            [right - side, bottom - side, right, bottom],
        ];
        let inside = corners.map(|corner| intersection(corner, grown(bounds, 1)));
        inside.map(|corner| self.difference.weight_in(corner)).iter().sum::<u64>().min(most)
    }
}
