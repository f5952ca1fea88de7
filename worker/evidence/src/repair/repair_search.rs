//! The search for repairs: proposes a drawing, judges it and proposes the next.

mod round;

use super::{
    areas::{DifferenceAreas, gain},
    best_trial::{BestTrial, DrawnTrial},
    hypothesis::Hypothesis,
    hypothesis_queue::HypothesisQueue,
    missing::{MissingShape, ShownShapes, adds_space_for, joined},
    refine::{JudgedTrial, Tracks},
    shift_field::ShiftField,
};
use crate::{
    difference::PixelDifference,
    element_tree::{PageTree, area, grown, intersection},
    margin_shift::ShiftedScreenshot,
    noise::PairNoise,
    picture_pair::PicturePair,
    raster::Raster,
    snapshot::{PageChange, PageEdit, Snapshot},
};

/// Bounds of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepairLimits {
    /// Maximum number of drawings.
    pub trials: usize,
    /// Maximum number of repairs.
    pub repairs: usize,
}

impl Default for RepairLimits {
    fn default() -> Self {
        Self { trials: 60, repairs: 3 }
    }
}

/// Minimum share of the difference that a repair removes from the areas that it touches.
const MIN_GAIN: f64 = 0.25;
/// Maximum number of edge pixels of the screenshot's content that a repair may hide.
const MAX_HIDDEN: usize = 30;

/// Share of the difference that a length may leave beyond another one in a noisy pair for each unit
/// of its plausibility: what noise leaves says little of the cause.
const LIKELIER: f64 = 0.05;

/// Maximum distance of missing content from an element in its place, in pixels.
const BESIDE: i32 = 4;

/// A change that removes differences.
#[derive(Clone, Debug)]
pub(crate) struct FoundRepair {
    pub hypothesis: Hypothesis,
    /// Share of the preceding difference that it removes from the areas that it touches.
    pub gain: f64,
    pub alternatives: Vec<Hypothesis>,
}

/// Result of a search.
pub(crate) struct SearchOutcome {
    /// Repairs in the order in which they were accepted.
    pub found: Vec<FoundRepair>,
    /// Share of all differences that they remove.
    pub explained: f64,
    pub remaining: PixelDifference,
    /// Boxes of content that the screenshot shows and the repaired page lacks.
    pub missing: Vec<[i32; 4]>,
}

/// A search for the changes of a page that repair its differences.
#[derive(Debug)]
pub struct RepairSearch {
    screenshot: Raster,
    /// The screenshot of another margin, which is fitted to each drawing.
    unshifted: Option<ShiftedScreenshot>,
    shown: ShownShapes,
    noise: PairNoise,
    limits: RepairLimits,
    snapshot: Snapshot,
    drawing: Raster,
    field: ShiftField,
    areas: DifferenceAreas,
    initial: u64,
    before: u64,
    queue: HypothesisQueue,
    tracks: Tracks,
    current: Option<Hypothesis>,
    judged: Vec<(Hypothesis, u64)>,
    best: Option<BestTrial>,
    missing: Option<Vec<MissingShape>>,
    equivalents_left: Option<usize>,
    found: Vec<FoundRepair>,
    drawn: usize,
}

impl RepairSearch {
    /// A search that begins with the differences of a pair.
    pub fn new(pair: &PicturePair<'_>, snapshot: &Snapshot, limits: RepairLimits) -> Self {
        let mut search = Self {
            screenshot: pair.screenshot().clone(),
            unshifted: pair.unshifted().cloned(),
            shown: ShownShapes::new(pair.screenshot()),
            noise: *pair.noise(),
            limits,
            snapshot: snapshot.clone(),
            drawing: pair.drawing().clone(),
            field: ShiftField::default(),
            areas: DifferenceAreas::default(),
            initial: 0,
            before: 0,
            queue: HypothesisQueue::default(),
            tracks: Tracks::default(),
            current: None,
            judged: Vec::new(),
            best: None,
            missing: None,
            equivalents_left: None,
            found: Vec::new(),
            drawn: 0,
        };
        search.begin_round();
        search.initial = search.before;
        search
    }

    /// The changes of the next drawing; none at the end of the search.
    pub fn next_drawing(&mut self) -> Option<Vec<PageChange>> {
        loop {
            if self.is_settled() {
                self.search_equivalents();
            }
            if self.drawn >= self.limits.trials || self.equivalents_left == Some(0) {
                self.queue.clear();
            }
            let Some(hypothesis) = self.queue.pop() else {
                if self.accept_best() {
                    continue;
                }
                return None;
            };
            if let Some(left) = &mut self.equivalents_left {
                *left -= 1;
            }
            self.drawn += 1;
            let accepted = self.found.iter().map(|repair| repair.hypothesis.change.clone());
            let changes = accepted.chain([hypothesis.change.clone()]).collect();
            self.current = Some(hypothesis);
            return Some(changes);
        }
    }

    /// Judges the drawing that was requested last.
    pub fn judge(&mut self, drawing: Raster, snapshot: Snapshot) {
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
            let trial = JudgedTrial { hypothesis, drawing, offset, before, remaining, is_exact };
            let page = PageTree::new(&self.snapshot);
            self.queue.extend(self.tracks.refined(&page, &self.field, &trial));
        }
        if gain(before, remaining, touched) < MIN_GAIN {
            self.queue.defer_similar(&PageTree::new(&self.snapshot), &hypothesis);
        }
        self.judged.push((hypothesis.clone(), remaining));
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
    fn fitted_screenshot(&self, drawing: &Raster) -> Option<(Raster, [i32; 2])> {
        let fitted = self.unshifted.as_ref().map(|screenshot| screenshot.fitted_to(drawing));
        fitted.filter(|(_, offset)| *offset != [0, 0])
    }

    /// Repairs found, and the remaining differences.
    pub(crate) fn into_outcome(mut self) -> SearchOutcome {
        while self.accept_best() {}
        let remaining = self.difference();
        SearchOutcome {
            explained: 1.0 - self.before as f64 / self.initial.max(1) as f64,
            missing: joined(&self.shown.missing_in(&self.drawing, &remaining)),
            found: self.found,
            remaining,
        }
    }

    /// Number of requested drawings.
    pub fn drawn(&self) -> usize {
        self.drawn
    }

    pub(crate) fn is_over(&self) -> bool {
        self.before == 0
    }

    /// Difference of the page as it is repaired so far.
    fn difference(&self) -> PixelDifference {
        self.difference_from(&self.screenshot)
    }

    /// The same from a screenshot that is shifted farther.
    fn difference_from(&self, screenshot: &Raster) -> PixelDifference {
        let page = PageTree::new(&self.snapshot);
        PixelDifference::for_page(screenshot, &self.drawing, &self.noise, &page)
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
        let rims = |shapes: &[MissingShape]| shapes.iter().map(|shape| shape.rims).sum::<usize>();
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
        let missing = shown.missing_in(drawing, difference);
        let page = PageTree::new(snapshot);
        !missing.iter().any(|shape| adds_space_for(&page, hypothesis, shape))
            && rims(&missing) <= rims(known) + MAX_HIDDEN
    }

    /// True if the screenshot has other content where an element is: it looks different there, and
    /// is not to be removed.
    fn is_beside_missing(&self, removal: &Hypothesis, missing: &[MissingShape]) -> bool {
        let own = grown(PageTree::new(&self.snapshot).bounds(removal.element), BESIDE);
        missing.iter().any(|shape| area(intersection(own, shape.bounds)) > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repair::tests::{COLORS, GAPS, draw};

    #[test]
    fn what_a_further_shift_removes_is_explained_by_no_change() {
        let (drawing, snapshot) = draw(COLORS, GAPS, &[]);
        let whole = drawing.window([7, 5], [167, 225], [255; 3]);
        let misplaced = whole.window([0, 0], [160, 220], [255; 3]);
        let pair = PicturePair::new(&misplaced, &drawing);
        let mut search = RepairSearch::new(&pair, &snapshot, RepairLimits::default());
        search.unshifted = Some(ShiftedScreenshot::new(&whole, [0, 0]));
        assert!(search.next_drawing().is_some() && search.before > 0);
        let (_, offset) = search.fitted_screenshot(&drawing).unwrap();
        assert_eq!(offset, [7, 5]);
        search.judge(drawing, snapshot);
        assert!(search.best.is_none());
    }
}
