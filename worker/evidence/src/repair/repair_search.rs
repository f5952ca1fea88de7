//! The search for repairs: proposes a drawing, measures it and proposes the next.

mod choose_best_trial;
mod round;

use super::{
    areas::DifferenceAreas,
    drawn_trial::BestTrial,
    hypothesis::Hypothesis,
    hypothesis_queue::HypothesisQueue,
    missing::{MissingShape, ShownShapes, joined},
    refine::Tracks,
    shift_field::ShiftField,
};
use crate::{
    difference::PixelDifference,
    element_tree::PageTree,
    pair_noise::PairNoise,
    picture_pair::PicturePair,
    raster::Raster,
    screenshot_shift::ShiftedScreenshot,
    snapshot::{PageChange, Snapshot},
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

/// A change that removes differences.
#[derive(Clone, Debug)]
pub(crate) struct FoundRepair {
    pub hypothesis: Hypothesis,
    /// Share of the preceding difference that it removes from the areas that it touches.
    pub gain: f64,
    /// Share of all differences that it removes.
    pub explained: f64,
    pub alternatives: Vec<Hypothesis>,
}

/// Result of a search.
pub(crate) struct SearchOutcome {
    /// Repairs in the order in which they were accepted.
    pub found: Vec<FoundRepair>,
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
    measured: Vec<(Hypothesis, u64)>,
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
            measured: Vec::new(),
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
            if self.has_repair() {
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

    /// Repairs found, and the remaining differences.
    pub(crate) fn into_outcome(mut self) -> SearchOutcome {
        while self.accept_best() {}
        let remaining = self.difference();
        SearchOutcome {
            missing: joined(
                &ShownShapes::with_lines(&self.screenshot).missing_in(&self.drawing, &remaining),
            ),
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
        search.add_drawing(drawing, snapshot);
        assert!(search.best.is_none());
    }
}
