//! The shift of a screenshot's content by another margin than the drawing's.

use crate::{
    bounds::shifts_within,
    content_box::{border_color, content_box},
    pair_noise::MAX_NOISY_SHIFT,
    raster::{Raster, channel_difference},
};
use std::{collections::BTreeSet, iter::StepBy, ops::Range};

/// Maximum shift, in pixels, of a component that was cropped in another way.
pub(crate) const MAX_SHIFT: i32 = 64;
/// Maximum share of the difference that may remain for a shift to count.
const SHIFT_GAIN: f64 = 0.95;
/// The same in pictures of one size if edges are not in their places after it.
const SHIFT_GAIN_WITHOUT_EDGES: f64 = 0.3;
/// Cap of a pixel's difference in levels, so that a faint box counts beside a dark text.
const MAX_LEVELS: u8 = 24;

/// Maximum number of shifts along a side that are tried because edges are alike.
const MAX_EDGE_SHIFTS: usize = 3;

/// Distances of the pixels that are compared, across and down.
const SAMPLED: [usize; 2] = [3, 2];
const EVERY_PIXEL: [usize; 2] = [1, 1];

/// A screenshot of another margin than the drawing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ShiftedScreenshot {
    pub whole: Raster,
    pub shift: [i32; 2],
}

impl ShiftedScreenshot {
    /// Shifts the screenshot farther.
    pub fn shift_by(&mut self, [x, y]: [i32; 2]) {
        let [own_x, own_y] = self.shift;
        self.shift = [own_x + x, own_y + y];
    }

    /// The screenshot as it fits another drawing of the page best, and its further shift for it.
    /// Content that grows in the middle of a page moves both ways, so its margin is another one.
    pub fn fitted_to(&self, drawing: &Raster) -> (Raster, [i32; 2]) {
        let present = difference(&self.whole, drawing, self.shift, SAMPLED);
        let best = least_different(&self.whole, drawing, present);
        let ([x, y], [own_x, own_y]) = (best.map_or(self.shift, |(shift, _)| shift), self.shift);
        let fitted = self.whole.window([-x, -y], drawing.size(), border_color(drawing));
        (fitted, [x - own_x, y - own_y])
    }
}

/// The shift of the whole content with which the pictures differ least; empty if a part of the
/// content stays in place, since then only an element moved.
pub(crate) fn measure_shift(screenshot: &Raster, drawing: &Raster) -> [i32; 2] {
    let has_same_size = screenshot.size() == drawing.size();
    let unshifted = difference(screenshot, drawing, [0, 0], SAMPLED);
    if has_same_size && unshifted == 0 {
        return [0, 0];
    }
    let limit = part_of(unshifted, SHIFT_GAIN);
    let Some((shift, left)) = least_different(screenshot, drawing, limit) else { return [0, 0] };
    let is_far_less = !has_same_size || left < part_of(unshifted, SHIFT_GAIN_WITHOUT_EDGES);
    if !is_far_less && !are_edges_shifted(screenshot, drawing, shift) {
        return [0, 0];
    }
    let [x, y] = shift;
    let near = shifts_within([1, 1]).map(|[dx, dy]| [x + dx, y + dy]);
    let exactly = near.map(|shift| (shift, difference(screenshot, drawing, shift, EVERY_PIXEL)));
    exactly.min_by_key(|(_, left)| *left).map_or(shift, |(exact, _)| exact)
}

/// True if content moved across or down, but not both, beyond the noise of another browser: its page
/// moved it, since a margin shifts along both axes.
pub(crate) fn is_along_one_axis(shift: [i32; 2]) -> bool {
    shift.iter().filter(|part| part.abs() > MAX_NOISY_SHIFT).count() == 1
}

/// The shifts, across and down, with which the numbers of edge pixels in columns and in rows differ
/// least.
pub(crate) fn shifts_of_edges(screenshot: &Raster, drawing: &Raster) -> [Vec<i32>; 2] {
    let (one, other) = (edge_counts(screenshot), edge_counts(drawing));
    let ([columns, rows], [own_columns, own_rows]) = (one, other);
    [most_alike(&columns, &own_columns), most_alike(&rows, &own_rows)]
}

fn part_of(difference: u64, share: f64) -> u64 {
    (difference as f64 * share).ceil() as u64
}

/// The shift by another margin that leaves the least difference, and that difference; `None` unless
/// it is below the limit.
fn least_different(screenshot: &Raster, drawing: &Raster, limit: u64) -> Option<([i32; 2], u64)> {
    let shifts = shifts_of_margins(screenshot, drawing).into_iter();
    let left = shifts.map(|shift| (shift, difference(screenshot, drawing, shift, SAMPLED)));
    left.filter(|(_, left)| *left < limit).min_by_key(|(_, left)| *left)
}

/// True if a shift puts at least half of the edges that are not in their places to places of edges:
/// a box of another color differs wherever it is.
fn are_edges_shifted(screenshot: &Raster, drawing: &Raster, [x, y]: [i32; 2]) -> bool {
    let (mut in_place, mut shifted, mut all) = (0usize, 0usize, 0usize);
    let [columns, rows] = SAMPLED;
    for row in (0..drawing.height() as i32).step_by(rows) {
        for column in (0..drawing.width() as i32).step_by(columns) {
            if drawing.is_edge(column, row) {
                let has_edge =
                    |[x, y]: [i32; 2]| screenshot.get(x, y).is_some() && screenshot.is_edge(x, y);
                all += 1;
                in_place += usize::from(has_edge([column, row]));
                shifted += usize::from(has_edge([column + x, row + y]));
            }
        }
    }
    2 * (all - shifted) <= all - in_place
}

/// Shifts by another margin: sides or the middle of the content are at their places, or most edges
/// are, or all that the screenshot is larger by lies on one side, or half of it on each. What grew in
/// the middle of a page has no corner at its place.
fn shifts_of_margins(screenshot: &Raster, drawing: &Raster) -> Vec<[i32; 2]> {
    let (Some([left, top, right, bottom]), Some([own_left, own_top, own_right, own_bottom])) =
        (content_box(screenshot), content_box(drawing))
    else {
        return Vec::new();
    };
    let [edges_across, edges_down] = shifts_of_edges(screenshot, drawing);
    let along = |near: i32, far: i32, edges: Vec<i32>, larger: i32| {
        let sides = [near, far, (near + far).div_euclid(2), larger, larger.div_euclid(2), 0];
        sides.into_iter().chain(edges).collect::<BTreeSet<i32>>()
    };
    let wider = screenshot.width() as i32 - drawing.width() as i32;
    let higher = screenshot.height() as i32 - drawing.height() as i32;
    let down = along(top - own_top, bottom - own_bottom, edges_down, higher);
    let across = along(left - own_left, right - own_right, edges_across, wider).into_iter();
    let mut shifts: Vec<_> = across.flat_map(|x| down.iter().map(move |y| [x, *y])).collect();
    shifts.retain(|shift| *shift != [0, 0] && shift.iter().all(|part| part.abs() <= MAX_SHIFT));
    shifts
}

/// Numbers of edge pixels in each column, and in each row.
fn edge_counts(picture: &Raster) -> [Vec<i32>; 2] {
    let mut columns = vec![0; picture.width() as usize];
    let mut rows = vec![0; picture.height() as usize];
    for (y, row) in rows.iter_mut().enumerate() {
        for (x, column) in columns.iter_mut().enumerate() {
            let is_edge = i32::from(picture.is_edge(x as i32, y as i32));
            *row += is_edge;
            *column += is_edge;
        }
    }
    [columns, rows]
}

/// The shifts of a list of counts to those that differ least from it, the best first.
fn most_alike(one: &[i32], other: &[i32]) -> Vec<i32> {
    let distance = |shift: i32| -> i64 {
        let places = (0..).zip(other).map(|(place, count): (i32, &i32)| {
            let shown = usize::try_from(place + shift).ok().and_then(|place| one.get(place));
            i64::from(shown.copied().unwrap_or_default().abs_diff(*count))
        });
        places.sum()
    };
    let mut shifts: Vec<_> =
        (-MAX_SHIFT..=MAX_SHIFT).map(|by| (distance(by), by.abs(), by)).collect();
    shifts.sort_unstable();
    shifts.into_iter().take(MAX_EDGE_SHIFTS).map(|(_, _, shift)| shift).collect()
}

/// Sum of the differences of pixels on a grid of these distances, over both pictures. Places outside
/// a picture have its border's color, and pixels of both borders' colors do not differ: content of
/// one picture that lies outside the other differs.
fn difference(
    screenshot: &Raster,
    drawing: &Raster,
    [x, y]: [i32; 2],
    [columns, rows]: [usize; 2],
) -> u64 {
    let (rim_one, rim_other) = (screenshot.at(0, 0), drawing.at(0, 0));
    let across = places(drawing.width(), screenshot.width(), x, columns);
    let down = places(drawing.height(), screenshot.height(), y, rows);
    let mut total = 0;
    for row in down {
        for column in across.clone() {
            let other = drawing.get(column, row).unwrap_or(rim_other);
            let one = screenshot.get(column + x, row + y).unwrap_or(rim_one);
            let is_page = one == rim_one && other == rim_other;
            let differs = channel_difference(one, other);
            total += if is_page || differs <= 2 { 0 } else { u64::from(differs.min(MAX_LEVELS)) };
        }
    }
    total
}

/// Every `distance`-th place along a side of the drawing or of the screenshot shifted by `shift`,
/// with 0 among them.
fn places(drawing: u32, screenshot: u32, shift: i32, distance: usize) -> StepBy<Range<i32>> {
    let step = distance as i32;
    let first = (-shift).min(0).div_euclid(step) * step;
    let end = (drawing as i32).max(screenshot as i32 - shift);
    (first..end).step_by(distance)
}
