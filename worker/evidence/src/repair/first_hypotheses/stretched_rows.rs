//! Hypotheses for rows of boxes that are stretched to the highest one: a box that alone keeps its
//! height in a row that grows has another margin, and where all grow, one whose content fills it has
//! another padding, or its last child another margin.

use super::FirstHypotheses;
use crate::{
    color::most_frequent,
    repair::{changeable_length::LengthProperty as P, hypothesis::Hypothesis},
};

/// Maximum distance of the tops of boxes in one row, in pixels of the drawing.
const SAME_TOP: i32 = 1;
/// Maximum space below the content of a box that makes its row as high as it is, in CSS pixels.
const FILLED: f64 = 1.0;
/// Maximum number of boxes of a row that are taken for the one that makes it higher.
const MAX_FILLED: usize = 3;
/// Likelihood of a margin of the only box that keeps its height, and of lengths in boxes that grow.
const KEPT: f64 = 0.8;
const GROWN: f64 = 0.45;

impl FirstHypotheses<'_> {
    /// Margins and paddings that make rows of stretched boxes higher or lower.
    pub(super) fn stretched_rows(&self) -> Vec<Hypothesis> {
        let containers = self.page.visible().filter(|&index| self.stretches_rows(index));
        let rows = containers.flat_map(|container| self.rows_of_boxes(container));
        rows.flat_map(|row| self.row_heights(&row)).collect()
    }

    fn stretches_rows(&self, container: usize) -> bool {
        let is_stretched =
            ["normal", "stretch"].contains(&self.page.style(container, "align-items"));
        is_stretched && (self.page.is_grid(container) || self.page.is_row(container))
    }

    /// The children of a container that stand side by side, by their rows.
    fn rows_of_boxes(&self, container: usize) -> Vec<Vec<usize>> {
        let page = self.page;
        let is_visible = |&&child: &&usize| page.visible().any(|seen| seen == child);
        let mut rows: Vec<Vec<usize>> = Vec::new();
        for &child in page.children(container).iter().filter(is_visible) {
            let top = |index: usize| page.bounds(index)[1];
            let is_beside = |row: &&mut Vec<usize>| {
                row.first().is_some_and(|&first| (top(first) - top(child)).abs() <= SAME_TOP)
            };
            match rows.last_mut().filter(is_beside) {
                Some(row) => row.push(child),
                None => rows.push(vec![child]),
            }
        }
        rows.retain(|row| row.len() > 1);
        rows
    }

    fn row_heights(&self, row: &[usize]) -> Vec<Hypothesis> {
        let growths = row.iter().map(|&index| Some((index, self.measured_growth(index)?[1])));
        let Some(growths) = growths.collect::<Option<Vec<(usize, f64)>>>() else {
            return Vec::new();
        };
        let is_kept = |(_, growth): &&(usize, f64)| *growth == 0.0;
        let kept: Vec<usize> = growths.iter().filter(is_kept).map(|(index, _)| *index).collect();
        let mut grown: Vec<i32> = growths
            .iter()
            .filter(|pair| !is_kept(pair))
            .map(|(_, growth)| (growth * self.page.snapshot.scale).round() as i32)
            .collect();
        let count = grown.len();
        let Some((by, _)) = most_frequent(&mut grown).filter(|(_, alike)| *alike == count) else {
            return Vec::new();
        };
        let by = f64::from(by) / self.page.snapshot.scale.max(0.1);
        match kept.as_slice() {
            [] => self.growths_of_filled_boxes(row, by),
            [_] => {
                let margins = [(P::MarginBottom, by, KEPT), (P::MarginTop, by, KEPT - 0.02)];
                self.lengths(&kept, margins).collect()
            }
            _ => Vec::new(),
        }
    }

    fn growths_of_filled_boxes(&self, row: &[usize], by: f64) -> Vec<Hypothesis> {
        let mut found = Vec::new();
        for &index in row.iter().filter(|&&index| self.is_filled(index)).take(MAX_FILLED) {
            found.extend(self.length(&[index], P::PaddingBottom, by, GROWN));
            let last = self.page.children(index).rchunks(1).next().unwrap_or_default();
            found.extend(self.length(last, P::MarginBottom, by, GROWN - 0.01));
        }
        found
    }

    /// True if the last child of a box ends where the content of the box does.
    fn is_filled(&self, index: usize) -> bool {
        let page = self.page;
        let Some(&last) = page.children(index).last() else { return false };
        let bottom = |index: usize| {
            page.element(index).map_or(0.0, |element| element.rect[1] + element.rect[3])
        };
        let below = page.padding(index, "bottom") + page.border(index, "bottom");
        let end = bottom(last) + P::MarginBottom.length(page, last) + below;
        (bottom(index) - end).abs() <= FILLED
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{element, proposed};
    use crate::{raster::Raster, snapshot::Snapshot};

    const CARD: (&str, &str) = ("background-color", "rgb(37, 99, 235)");

    /// A grid of three cards side by side, of these heights; a text fills the second one, but for its
    /// padding.
    fn grid(heights: [u32; 3], display: &str) -> (Raster, Snapshot) {
        let mut picture = Raster::filled(180, 120, [255; 3]);
        let container = [("display", display), ("align-items", "normal")];
        let mut elements = vec![element(0, None, [10, 10, 160, 100], &container)];
        for (place, height) in (0..3).zip(heights) {
            let rect = [10 + 55 * place, 20, 45, height];
            picture.fill(rect, [37, 99, 235]);
            let index = elements.len();
            elements.push(element(index, Some(0), rect, &[CARD, ("padding-bottom", "8px")]));
        }
        elements.push(element(4, Some(2), [65, 20, 45, heights[1] - 8], &[]));
        (picture, Snapshot::of_page([180, 120], elements))
    }

    fn stretched(before: [u32; 3], after: [u32; 3], display: &str) -> Vec<(usize, String)> {
        let (drawing, snapshot) = grid(before, display);
        let (screenshot, _) = grid(after, display);
        proposed(&snapshot, &drawing, &screenshot, |hypotheses| hypotheses.stretched_rows())
    }

    #[test]
    fn the_only_card_that_keeps_its_height_has_another_margin() {
        let found = stretched([40; 3], [46, 40, 46], "grid");
        assert_eq!(found[0], (2, "margin-bottom: 6px".to_owned()));
        assert_eq!(stretched([40; 3], [46, 40, 46], "block"), [], "nothing is stretched");
        assert_eq!(stretched([40; 3], [46, 40, 44], "grid"), [], "their heights have other causes");
        assert_eq!(stretched([40; 3], [40; 3], "grid"), []);
    }

    #[test]
    fn a_row_grows_by_the_card_that_fills_it() {
        let found = stretched([40; 3], [44; 3], "flex");
        let expected = [(2, "padding-bottom: 12px"), (4, "margin-bottom: 4px")];
        assert_eq!(found, expected.map(|(index, value)| (index, value.to_owned())));
    }
}
