//! First hypotheses for texts that the screenshot aligns otherwise in their lines.

use super::{FirstHypotheses, alignment::MAX_DISTANCE};
use crate::{
    bounds::grown,
    raster::Raster,
    repair::{changeable_length::LengthProperty as P, hypothesis::Hypothesis},
};

const TEXT_PLACES: [&str; 3] = ["left", "center", "right"];
/// Maximum distance of a followed text from the predicted place: glyphs begin a little beside
/// theirs.
const MAX_TEXT_DISTANCE: f64 = 2.0 * MAX_DISTANCE;
/// The same of the first and the last edge of a line, whose glyphs may be drawn between two pixels.
const MAX_LINE_DISTANCE: f64 = 5.0;

impl FirstHypotheses<'_> {
    /// Alignments of an element's own text, and the same for its parent.
    pub(super) fn text_alignments(&self, index: usize) -> Vec<Hypothesis> {
        let page = self.page;
        let targets: Vec<_> = self.field.texts_of(index).map(|patch| patch.target).collect();
        if targets.iter().all(|target| *target == Some([0, 0])) {
            return Vec::new();
        }
        let shift = targets.into_iter().flatten().min();
        let lines = self.inked_lines(index);
        // The place of a text in a line is that of the block around it.
        let is_inline = page.style(index, "display").starts_with("inline");
        let block = if is_inline { page.parent(index) } else { Some(index) };
        let Some(block) = block else { return Vec::new() };
        let [start, end] = self.content(block, 0);
        let mut found = Vec::new();
        for place in TEXT_PLACES {
            let distance = |[first, last]: [i32; 2]| {
                let size = f64::from(last - first);
                let target = match place {
                    "left" => start,
                    "center" => (start + end - size) / 2.0,
                    _ => end - size,
                };
                target - f64::from(first)
            };
            if self.is_shifted_by(&lines, shift, distance)
                || self.are_shifted(&lines, [start, end], distance)
            {
                let around = [Some(block), page.parent(block)];
                let elements = around.into_iter().flatten();
                found.extend(elements.filter_map(|at| self.keyword(at, "text-align", place)));
            }
        }
        found
    }

    /// True if a text is moved across by the distance of its longest line.
    fn is_shifted_by(
        &self,
        lines: &[[i32; 4]],
        shift: Option<[i32; 2]>,
        distance: impl Fn([i32; 2]) -> f64,
    ) -> bool {
        let Some([across, 0]) = shift.filter(|[across, _]| *across != 0) else { return false };
        let first = lines.iter().map(|[left, ..]| *left).min();
        let last = lines.iter().map(|[_, _, right, _]| *right).max();
        let Some(columns) = first.zip(last) else { return false };
        (f64::from(across) - distance(columns.into())).abs() <= MAX_TEXT_DISTANCE
    }

    /// True if the screenshot has every line of a text at its own distance, and not all in place.
    fn are_shifted(
        &self,
        lines: &[[i32; 4]],
        [start, end]: [f64; 2],
        distance: impl Fn([i32; 2]) -> f64,
    ) -> bool {
        let (start, end) = (start.floor() as i32 - 1, end.ceil() as i32 + 1);
        let shift = |[left, top, right, bottom]: [i32; 4]| {
            let across = distance([left, right]);
            let shown = inked_columns(self.screenshot, [start, top, end, bottom])?;
            let is_there = |[side, shown]: [i32; 2]| {
                (f64::from(side) + across - f64::from(shown)).abs() <= MAX_LINE_DISTANCE
            };
            let [shown_left, shown_right] = shown;
            let is_shown = [[left, shown_left], [right, shown_right]].into_iter().all(is_there);
            is_shown.then_some(across)
        };
        let shifts: Option<Vec<f64>> = lines.iter().copied().map(shift).collect();
        shifts.is_some_and(|shifts| shifts.iter().any(|across| across.abs() > MAX_LINE_DISTANCE))
    }

    /// Lines of an element's content: left, top, right and bottom of runs of rows that have an edge.
    fn inked_lines(&self, index: usize) -> Vec<[i32; 4]> {
        let border = P::BorderWidth.length(self.page, index) * self.page.snapshot.scale;
        let inner = grown(self.page.bounds(index), -1 - border.ceil() as i32);
        let [left, top, right, bottom] = self.drawing.visible_part(inner);
        let mut lines: Vec<[i32; 4]> = Vec::new();
        for y in top..bottom {
            let Some([first, after]) = inked_columns(self.drawing, [left, y, right, y + 1]) else {
                continue;
            };
            match lines.last_mut() {
                Some([left, _, right, bottom]) if *bottom == y => {
                    (*left, *right, *bottom) = (first.min(*left), after.max(*right), y + 1);
                }
                _ => lines.push([first, y, after, y + 1]),
            }
        }
        lines
    }
}

/// First column of a box that has an edge, and the one after the last.
fn inked_columns(picture: &Raster, bounds: [i32; 4]) -> Option<[i32; 2]> {
    let [left, top, right, bottom] = picture.visible_part(bounds);
    let has_ink = |x: &i32| (top..bottom).any(|y| picture.is_edge(*x, y));
    let first = (left..right).find(has_ink)?;
    let last = (left..right).rev().find(has_ink)?;
    Some([first, last + 1])
}
