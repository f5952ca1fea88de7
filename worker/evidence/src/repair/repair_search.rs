//! The search for repairs: proposes a drawing, measures it and proposes the next.

mod choose_best_trial;
mod regions_of_repairs;
mod round;

use super::{hypothesis::Hypothesis, missing::ShownShapes};
use crate::{
    align::Alignment,
    difference::PixelDifference,
    element_tree::PageTree,
    pair_noise::PairNoise,
    picture_pair::PicturePair,
    raster::Raster,
    screenshot_shift::ShiftedScreenshot,
    snapshot::{PageChange, Snapshot},
};
use round::SearchRound;

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
    round: SearchRound,
    initial: u64,
    current: Option<Hypothesis>,
    found: Vec<FoundRepair>,
    drawn: usize,
}

impl RepairSearch {
    /// A search that begins with the differences of a pair.
    pub fn new(pair: &PicturePair<'_>, snapshot: &Snapshot, limits: RepairLimits) -> Self {
        let Alignment { screenshot, unshifted, noise, .. } = &pair.alignment;
        let mut search = Self {
            screenshot: screenshot.clone(),
            unshifted: unshifted.clone(),
            shown: ShownShapes::new(screenshot),
            noise: *noise,
            limits,
            snapshot: snapshot.clone(),
            drawing: pair.drawing.clone(),
            round: SearchRound::default(),
            initial: 0,
            current: None,
            found: Vec::new(),
            drawn: 0,
        };
        search.begin_round();
        search.initial = search.round.before;
        search
    }

    /// The changes of the next drawing; `None` at the end of the search.
    pub fn next_drawing(&mut self) -> Option<Vec<PageChange>> {
        loop {
            if self.has_repair() {
                self.search_equivalents();
            }
            let round = &mut self.round;
            if self.drawn >= self.limits.trials || round.equivalents_left == Some(0) {
                round.queue.waiting.clear();
            }
            let Some(hypothesis) = round.queue.pop() else {
                if self.accept_best() {
                    continue;
                }
                return None;
            };
            if let Some(left) = &mut round.equivalents_left {
                *left -= 1;
            }
            self.drawn += 1;
            let accepted = self.found.iter().map(|repair| repair.hypothesis.change.clone());
            let changes = accepted.chain([hypothesis.change.clone()]).collect();
            self.current = Some(hypothesis);
            return Some(changes);
        }
    }

    /// Number of requested drawings.
    pub fn drawn(&self) -> usize {
        self.drawn
    }

    /// Difference of the page as it is repaired so far.
    fn difference(&self) -> PixelDifference<'_> {
        self.difference_from(&self.screenshot)
    }

    /// The same from a screenshot that is shifted farther.
    fn difference_from<'own>(&'own self, screenshot: &'own Raster) -> PixelDifference<'own> {
        let page = PageTree::new(&self.snapshot);
        PixelDifference::for_page(screenshot, &self.drawing, &self.noise, Some(&page))
    }
}

/// A change that removes differences.
#[derive(Clone, Debug)]
struct FoundRepair {
    hypothesis: Hypothesis,
    /// Share of the preceding difference that it removes from the areas that it touches.
    gain: f64,
    /// Share of all differences that it removes.
    explained: f64,
    alternatives: Vec<Hypothesis>,
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
        search.unshifted = Some(ShiftedScreenshot { whole, shift: [0, 0] });
        assert!(search.next_drawing().is_some() && search.round.before > 0);
        let (_, offset) = search.fitted_screenshot(&drawing).unwrap();
        assert_eq!(offset, [7, 5]);
        search.add_drawing(drawing, snapshot);
        assert!(search.round.best.is_none());
    }
}
