//! Hypotheses for borders and corners whose size the screenshot shows.

use super::FirstHypotheses;
use crate::{
    bounds::{corners_of, grown, pixels_of, shorter_side},
    color::most_frequent,
    raster::{Raster, Rgb, channel_difference},
    repair::{changeable_length::LengthProperty as P, hypothesis::Hypothesis},
};
use std::collections::BTreeMap;

/// Maximum distance of a border from its place in the drawing, in pixels.
const REACH: i32 = 24;
/// Maximum difference of two pixels of one border, in levels.
const SAME: u8 = 6;
/// Maximum thickness of a border, in pixels.
const MAX_THICKNESS: i32 = 24;
/// Places along a side, in hundredths of its length, at which its border is measured.
const PLACES: [i32; 7] = [20, 30, 40, 50, 60, 70, 80];
/// Minimum number of places that show the same thickness.
const MIN_PLACES: usize = 4;
/// Maximum side of a corner, in pixels.
const MAX_CORNER: i32 = 40;
/// Area that a radius of one pixel takes from a square corner.
const CORNER_AREA: f64 = 1.0 - std::f64::consts::FRAC_PI_4;
/// Likelihoods of a border and of corners of the size that is measured.
const BORDER: f64 = 0.93;
const CORNER: f64 = 0.95;

impl FirstHypotheses<'_> {
    /// Borders and radii of the sizes that the screenshot shows.
    pub(super) fn measured_outlines(&self, differing: &[usize]) -> Vec<Hypothesis> {
        let painted = || differing.iter().copied().filter(|&index| self.page.is_painted(index));
        let borders: BTreeMap<usize, f64> =
            painted().filter_map(|index| Some((index, self.other_thickness(index)?))).collect();
        let corners: BTreeMap<usize, CornerDifference> =
            painted().filter_map(|index| Some((index, self.corners_alone(index)?))).collect();
        let mut found = Vec::new();
        for (&index, &delta) in &borders {
            let elements = self.all_or_one(index, |other| borders.get(other) == Some(&delta));
            found.extend(self.length(&elements, P::BorderWidth, delta, BORDER));
        }
        for (&index, corner) in &corners {
            let elements = self.all_or_one(index, |other| corners.contains_key(other));
            for (place, delta) in self.other_radii(index, corner).into_iter().enumerate() {
                let likely = CORNER - 0.03 * place as f64;
                found.extend(self.length(&elements, P::BorderRadius, delta, likely));
            }
        }
        found
    }

    /// Difference of the border's width in the screenshot, in CSS pixels; `None` if it is the same
    /// or is not seen.
    fn other_thickness(&self, index: usize) -> Option<f64> {
        let page = self.page;
        let [left, top, right, bottom] = page.painted_bounds(index);
        let (across, down) = (right - left, bottom - top);
        let along = |length: i32| PLACES.map(|place| length * place / 100);
        let sides = [
            ("top", along(across).map(|x| ([left + x, top], [0, 1]))),
            ("bottom", along(across).map(|x| ([left + x, bottom - 1], [0, -1]))),
            ("left", along(down).map(|y| ([left, top + y], [1, 0]))),
        ];
        sides.into_iter().find_map(|(side, places)| {
            let thickness = (page.border(index, side) * page.snapshot.scale).round() as i32;
            let color = page.opaque_color(index, &format!("border-{side}-color"))?;
            let border = Border { color, thickness };
            let mut shown: Vec<i32> = places
                .into_iter()
                .filter_map(|(from, way)| {
                    border.thickness_in(self.drawing, self.screenshot, from, way)
                })
                .collect();
            let (most, places) = most_frequent(&mut shown)?;
            let other = f64::from(most - thickness) / page.snapshot.scale;
            (places >= MIN_PLACES && other != 0.0).then_some(other)
        })
    }

    /// Differences of a radius that the corners of the screenshot may have, the likeliest first.
    fn other_radii(&self, index: usize, corner: &CornerDifference) -> Vec<f64> {
        let scale = self.page.snapshot.scale.max(0.1);
        let most = f64::from(shorter_side(self.page.painted_bounds(index))) / 2.0;
        let present = P::BorderRadius.length(self.page, index) * scale;
        let shown = present.min(most);
        let area = corner.area / CORNER_AREA;
        let larger = (shown * shown + area).sqrt().round();
        let smaller = (shown * shown - area).max(0.0).sqrt().round();
        let extent = f64::from(corner.extent);
        let radii = if extent > shown {
            [extent, larger, extent + 1.0]
        } else {
            [smaller, larger, smaller - 1.0]
        };
        let mut deltas: Vec<f64> = Vec::new();
        for radius in radii.into_iter().filter(|radius| *radius >= 0.0) {
            let delta = (radius - present) / scale;
            if delta != 0.0 && !deltas.contains(&delta) {
                deltas.push(delta);
            }
        }
        deltas
    }

    /// The difference at a box's corners if the box differs nowhere else.
    fn corners_alone(&self, index: usize) -> Option<CornerDifference> {
        let bounds = self.page.painted_bounds(index);
        let side = (shorter_side(bounds) / 2).clamp(1, MAX_CORNER);
        let measured =
            corners_of(bounds).map(|(from, way)| self.corner_difference(from, way, side));
        let differing: Vec<&CornerDifference> =
            measured.iter().filter(|corner| corner.count > 0).collect();
        let at_corners: usize = differing.iter().map(|corner| corner.count).sum();
        let inner = self.difference.count_in(grown(bounds, -side));
        let outline = self.difference.count_in(grown(bounds, 2)).saturating_sub(inner);
        let is_alone = differing.len() > 1 && at_corners * 10 >= outline * 9;
        is_alone.then(|| differing.into_iter().max_by_key(|corner| corner.count).copied())?
    }

    fn corner_difference(
        &self,
        [x, y]: [i32; 2],
        [dx, dy]: [i32; 2],
        side: i32,
    ) -> CornerDifference {
        let (mut levels, mut extent, mut count) = (0.0, 0, 0);
        // The box's edge against what is behind its corner.
        let behind = self.drawing.at(x - 2 * dx, y - 2 * dy);
        let mut contrast = channel_difference(self.drawing.at(x + dx * side, y), behind);
        for [across, down] in pixels_of([0, 0, side, side]) {
            let [px, py] = [x + dx * across, y + dy * down];
            if self.difference.at(px, py) == 0 {
                continue;
            }
            let other = channel_difference(self.screenshot.at(px, py), self.drawing.at(px, py));
            levels += f64::from(other);
            contrast = contrast.max(other);
            extent = extent.max(across.max(down) + 1);
            count += 1;
        }
        CornerDifference { area: levels / f64::from(contrast.max(1)), extent, count }
    }
}

/// The difference of a corner.
#[derive(Clone, Copy, Debug)]
struct CornerDifference {
    /// Pixels that differ, each by the share of the largest difference.
    area: f64,
    /// Distance from the corner to the farthest of them along a side, in pixels.
    extent: i32,
    count: usize,
}

/// A border of the drawing.
struct Border {
    color: Rgb,
    thickness: i32,
}

impl Border {
    /// Its thickness in the screenshot, from a place on its outer edge inward; `None` if it is not
    /// seen there, or not in the drawing.
    fn thickness_in(
        &self,
        drawing: &Raster,
        screenshot: &Raster,
        from: [i32; 2],
        way: [i32; 2],
    ) -> Option<i32> {
        if self.thickness == 0 || self.run(drawing, from, way) != self.thickness {
            return None;
        }
        let outward = way.map(|part| -part);
        let begins = |at: &i32| {
            let place = moved(from, way, *at);
            self.is_own(screenshot, place) && !self.is_own(screenshot, moved(place, outward, 1))
        };
        let at = (0..=REACH).flat_map(|by| [by, -by]).find(begins)?;
        let shown = self.run(screenshot, moved(from, way, at), way);
        (shown <= MAX_THICKNESS).then_some(shown)
    }

    /// Number of its pixels from a place on.
    fn run(&self, picture: &Raster, from: [i32; 2], way: [i32; 2]) -> i32 {
        (0..=MAX_THICKNESS).take_while(|&at| self.is_own(picture, moved(from, way, at))).count()
            as i32
    }

    fn is_own(&self, picture: &Raster, [x, y]: [i32; 2]) -> bool {
        picture.get(x, y).is_some_and(|shown| channel_difference(shown, self.color) <= SAME)
    }
}

fn moved([x, y]: [i32; 2], [dx, dy]: [i32; 2], by: i32) -> [i32; 2] {
    [x + dx * by, y + dy * by]
}
