//! First hypotheses for the outline of a box: its border, its corners and its shadow.

use super::FirstHypotheses;
use crate::{
    element_tree::{area, grown, intersection},
    repair::{changeable_length::LengthProperty as P, hypothesis::Hypothesis, shadow::shadows},
};

/// Maximum side of a corner, in pixels.
const MAX_CORNER: i32 = 24;
/// Height of the strips beside a box in which a shadow of its own is looked for, in pixels.
const STRIP: i32 = 2;

impl FirstHypotheses<'_> {
    /// Borders, radii and shadows of boxes whose edges differ.
    pub(super) fn outlines(&self, differing: &[usize]) -> Vec<Hypothesis> {
        let mut found = Vec::new();
        for &index in differing {
            let bounds = self.page.bounds(index);
            let inner = self.difference.weight_in(grown(bounds, -6));
            let own = self.difference.weight_in(grown(bounds, 1));
            let halo = self.difference.weight_in(grown(bounds, 40));
            let corners = self.corner_weight(bounds, self.total);
            let elements = self.members(index);
            let has_border = P::BorderWidth.length(self.page, index) > 0.0;
            if self.page.is_painted(index)
                || self.page.element(index).is_some_and(|e| e.image.is_some())
            {
                let members_share =
                    |weight: u64| (self.share(weight) * elements.len() as f64).min(1.0);
                let corner_share =
                    members_share(corners) * if corners * 10 >= own * 7 { 1.0 } else { 0.2 };
                if corners > 0 {
                    for delta in [4.0, -4.0] {
                        found.extend(self.length(
                            &elements,
                            P::BorderRadius,
                            delta,
                            0.9 * corner_share,
                        ));
                    }
                }
                let outline = own.saturating_sub(inner);
                if outline > 0 && (has_border || outline * 2 > own) {
                    let shown = 0.6 * members_share(outline);
                    let likely = if has_border { shown.max(0.63) } else { shown };
                    found.extend(self.length(&elements, P::BorderWidth, 1.0, likely));
                    found.extend(self.length(&elements, P::BorderWidth, -1.0, likely - 0.02));
                }
                let sides = self.sides_with_other_halo(index);
                if halo > own && sides > 0 {
                    let is_same = |&other: &usize| self.sides_with_other_halo(other) > 1;
                    let elements = self.all_or_one(index, is_same);
                    let seen = if sides > 1 { 0.8 } else { 0.4 };
                    let likely = seen * members_share(halo.saturating_sub(own));
                    for (place, shadow) in
                        shadows(self.page.style(index, "box-shadow")).into_iter().enumerate()
                    {
                        let later = place as f64 * 0.02;
                        found.extend(self.value(
                            elements.clone(),
                            "box-shadow",
                            &shadow,
                            likely - later,
                            0,
                        ));
                    }
                }
            }
        }
        found
    }

    /// Number of sides of a box just beside which the pictures differ, as with another shadow.
    fn sides_with_other_halo(&self, index: usize) -> usize {
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
        let inside = corners_of(bounds).map(|corner| {
            let corner = intersection(corner, grown(bounds, 1));
            if area(corner) > 0.0 { self.difference.weight_in(corner) } else { 0 }
        });
        inside.iter().sum::<u64>().min(most)
    }
}

/// Boxes of the corners of an element: left, top, right, bottom.
fn corners_of([left, top, right, bottom]: [i32; 4]) -> [[i32; 4]; 4] {
    let side = ((right - left).min(bottom - top) / 2).clamp(1, MAX_CORNER);
    [
        [left, top, left + side, top + side],
        [right - side, top, right, top + side],
        [left, bottom - side, left + side, bottom],
        [right - side, bottom - side, right, bottom],
    ]
}
