//! Choice of the best trial: what a drawing removes, and whether it is better than the best so far.

use super::{MIN_GAIN, RepairSearch};
use crate::{
    difference::PixelDifference,
    element_tree::{PageTree, area, grown, intersection},
    raster::Raster,
    repair::{
        areas::gain,
        drawn_trial::{BestTrial, DrawnTrial},
        hypothesis::Hypothesis,
        missing::{MissingShape, ShownShapes, adds_space_for},
        refine::MeasuredTrial,
    },
    snapshot::{PageEdit, Snapshot},
};

/// Maximum number of edge pixels of the screenshot's content that a repair may hide.
const MAX_HIDDEN: usize = 30;

/// Share of the difference that a length may leave beyond another one in a noisy pair for each unit
/// of its plausibility: what noise leaves says little of the cause.
const LIKELIER: f64 = 0.05;

/// Property that places an element's content anew.
const DIRECTION: &str = "flex-direction";

/// Maximum distance of missing content from an element in its place, in pixels.
const BESIDE: i32 = 4;

impl RepairSearch {
    /// Takes the drawing that was requested last: measures what it removes, and keeps it if it is best.
    pub fn add_drawing(&mut self, drawing: Raster, snapshot: Snapshot) {
        let Some(hypothesis) = self.current.take() else { return };
        let same_size =
            drawing.width() == self.drawing.width() && drawing.height() == self.drawing.height();
        if !same_size {
            return;
        }
        let fitted = self.fitted_screenshot(&drawing);
        let offset = fitted.as_ref().map_or([0, 0], |(_, offset)| *offset);
        let screenshot = fitted.as_ref().map_or(&self.screenshot, |(picture, _)| picture);
        let difference =
            PixelDifference::for_page(screenshot, &drawing, &self.noise, &PageTree::new(&snapshot));
        let remaining = difference.total();
        // What a further shift alone removes, the change does not.
        let shifted = fitted.as_ref().map(|(picture, _)| self.difference_from(picture).total());
        let before = self.before.min(shifted.unwrap_or(self.before));
        let touched = match shifted {
            Some(_) => before,
            None => self.areas.touched(&self.drawing, &drawing),
        };
        if self.equivalents_left.is_none() {
            let (hypothesis, drawing) = (&hypothesis, &drawing);
            let is_exact = self.noise.is_none();
            let trial = MeasuredTrial { hypothesis, drawing, offset, before, remaining, is_exact };
            let page = PageTree::new(&self.snapshot);
            self.queue.extend(self.tracks.refined(&page, &self.field, &trial));
        }
        if gain(before, remaining, touched) < MIN_GAIN {
            self.queue.defer_similar(&PageTree::new(&self.snapshot), &hypothesis);
        }
        self.measured.push((hypothesis.clone(), remaining));
        if !self.is_better(&hypothesis, before, remaining) {
            return;
        }
        let shown = fitted.as_ref().map(|(picture, _)| ShownShapes::new(picture));
        if self.is_sensible(&hypothesis, &drawing, &snapshot, &difference, shown.as_ref()) {
            let (page, drawn) = (DrawnTrial { drawing, snapshot, fitted }, self.drawn);
            self.best = Some(BestTrial { hypothesis, before, remaining, touched, page, drawn });
        }
    }

    /// The screenshot as it fits a drawing, if it is shifted farther for it, and its further shift.
    pub(super) fn fitted_screenshot(&self, drawing: &Raster) -> Option<(Raster, [i32; 2])> {
        let fitted = self.unshifted.as_ref().map(|screenshot| screenshot.fitted_to(drawing));
        fitted.filter(|(_, offset)| *offset != [0, 0])
    }

    /// True if a change removes anything, and more than the best one, or the same and is likelier.
    fn is_better(&self, hypothesis: &Hypothesis, before: u64, remaining: u64) -> bool {
        let page = PageTree::new(&self.snapshot);
        let is_likelier =
            |best: &BestTrial| hypothesis.plausibility(&page) > best.hypothesis.plausibility(&page);
        let is_better = |best: &BestTrial| {
            let are_lengths = hypothesis.is_length() && best.hypothesis.is_length();
            if are_lengths && !self.noise.is_none() {
                let cost = |hypothesis: &Hypothesis, remaining: u64| {
                    remaining as f64 - LIKELIER * before as f64 * hypothesis.plausibility(&page)
                };
                return cost(hypothesis, remaining) < cost(&best.hypothesis, best.remaining);
            }
            remaining < best.remaining || remaining == best.remaining && is_likelier(best)
        };
        remaining < before && self.best.as_ref().is_none_or(is_better)
    }

    /// True if a change keeps the screenshot's content visible, and does not merely make space for
    /// missing content.
    fn is_sensible(
        &mut self,
        hypothesis: &Hypothesis,
        drawing: &Raster,
        snapshot: &Snapshot,
        difference: &PixelDifference,
        fitted: Option<&ShownShapes>,
    ) -> bool {
        let edge_pixels =
            |shapes: &[MissingShape]| shapes.iter().map(|shape| shape.edge_pixels).sum::<usize>();
        if self.missing.is_none() {
            self.missing = Some(self.shown.missing_in(&self.drawing, &self.difference()));
        }
        let known = self.missing.as_deref().unwrap_or_default();
        if hypothesis.change.edit == PageEdit::Remove && self.is_beside_missing(hypothesis, known) {
            return false;
        }
        let is_length = hypothesis.is_length();
        let shown = fitted.unwrap_or(&self.shown);
        if is_length && fitted.is_none() && shown.are_covered(known, drawing) {
            return false;
        }
        let page = PageTree::new(snapshot);
        if hypothesis.property() == DIRECTION && !self.fits_within(hypothesis, &page, difference) {
            return false;
        }
        let missing = shown.missing_in(drawing, difference);
        !missing.iter().any(|shape| adds_space_for(&page, hypothesis, shape))
            && edge_pixels(&missing) <= edge_pixels(known) + MAX_HIDDEN
    }

    /// True if changed elements look within their boxes much more like the screenshot: another
    /// direction may merely give them the height of missing content.
    fn fits_within(
        &self,
        hypothesis: &Hypothesis,
        changed: &PageTree<'_>,
        difference: &PixelDifference,
    ) -> bool {
        let (present, before) = (PageTree::new(&self.snapshot), self.difference());
        let differing = |page: &PageTree<'_>, difference: &PixelDifference| -> usize {
            let elements = hypothesis.change.elements.iter();
            elements.map(|&element| difference.count_in(page.bounds(element))).sum()
        };
        2 * differing(changed, difference) <= differing(&present, &before)
    }

    /// True if the screenshot has other content where an element is: it looks different there, and
    /// is not to be removed.
    fn is_beside_missing(&self, removal: &Hypothesis, missing: &[MissingShape]) -> bool {
        let own = grown(PageTree::new(&self.snapshot).bounds(removal.element), BESIDE);
        missing.iter().any(|shape| area(intersection(own, shape.bounds)) > 0.0)
    }
}
