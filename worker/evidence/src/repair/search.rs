//! The search for repairs: proposes a drawing, judges it and proposes the next.

use super::{
    areas::{DifferenceAreas, gain},
    best_trial::{BestTrial, DrawnTrial},
    equivalent_repairs::equivalents,
    first_hypotheses::FirstHypotheses,
    hypothesis::{Hypothesis, Lever},
    hypothesis_queue::HypothesisQueue,
    missing::{MissingShape, ShownShapes, adds_space_for, joined},
    refine::{JudgedTrial, NEARLY_SOLVED, PARALLEL, Tracks},
    shift_field::ShiftField,
};
use crate::{
    difference::PixelDifference,
    element_tree::PageTree,
    margin_shift::ShiftedScreenshot,
    measure::PicturePair,
    noise::PairNoise,
    raster::Raster,
    regions::is_lost_in_noise,
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
/// Maximum share of the difference that remains of a repaired page.
const SOLVED: f64 = 0.003;
/// Maximum number of drawings for other ways to write a repair.
const MAX_EQUIVALENTS: usize = 18;
/// Number of drawings without an improvement after which a nearly solved round ends.
const MAX_TRIALS_WITHOUT_GAIN: usize = 10;
/// The same if differences remain elsewhere, which the same cause may have.
const MAX_TRIALS_WITHOUT_GAIN_ELSEWHERE: usize = 20;
/// Maximum number of edge pixels of the screenshot's content that a repair may hide.
const MAX_HIDDEN: usize = 30;

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
        let (fitted, offset) = self.fitted_screenshot(&drawing);
        let screenshot = fitted.as_ref().unwrap_or(&self.screenshot);
        let difference =
            PixelDifference::for_page(screenshot, &drawing, &self.noise, &PageTree::new(&snapshot));
        let (before, remaining) = (self.before, difference.total());
        let touched = self.areas.touched(&self.drawing, &drawing);
        if self.equivalents_left.is_none() {
            let (hypothesis, drawing) = (&hypothesis, &drawing);
            let trial = JudgedTrial { hypothesis, drawing, offset, before, remaining };
            let page = PageTree::new(&self.snapshot);
            self.queue.extend(self.tracks.refined(&page, &self.field, &trial));
        }
        if gain(before, remaining, touched) < MIN_GAIN {
            self.queue.defer_similar(&PageTree::new(&self.snapshot), &hypothesis);
        }
        self.judged.push((hypothesis.clone(), remaining));
        if !self.is_better(&hypothesis, remaining) {
            return;
        }
        let shown = fitted.as_ref().map(ShownShapes::new);
        if self.is_sensible(&hypothesis, &drawing, &snapshot, &difference, shown.as_ref()) {
            let (page, drawn) = (DrawnTrial { drawing, snapshot, fitted }, self.drawn);
            self.best = Some(BestTrial { hypothesis, remaining, touched, page, drawn });
        }
    }

    /// The screenshot as it fits a drawing, if it is shifted farther for it, and its further shift.
    fn fitted_screenshot(&self, drawing: &Raster) -> (Option<Raster>, [i32; 2]) {
        let fitted = self.unshifted.as_ref().map(|screenshot| screenshot.fitted_to(drawing));
        let (screenshot, offset) = fitted.unzip();
        let offset = offset.unwrap_or_default();
        (screenshot.filter(|_| offset != [0, 0]), offset)
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
        let page = PageTree::new(&self.snapshot);
        PixelDifference::for_page(&self.screenshot, &self.drawing, &self.noise, &page)
    }

    fn begin_round(&mut self) {
        let difference = self.difference();
        self.before = difference.total();
        self.areas = DifferenceAreas::new(&difference);
        self.queue = HypothesisQueue::default();
        self.tracks = Tracks::default();
        self.judged.clear();
        self.missing = None;
        self.equivalents_left = None;
        if self.before == 0 || self.found.len() >= self.limits.repairs {
            return;
        }
        let page = PageTree::new(&self.snapshot);
        if is_lost_in_noise(&difference, &self.noise, &page) {
            return;
        }
        self.field = ShiftField::new(&page, &self.drawing, &self.screenshot);
        let hypotheses = FirstHypotheses {
            page: &page,
            screenshot: &self.screenshot,
            drawing: &self.drawing,
            difference: &difference,
            field: &self.field,
            tolerance: self.noise.flat_levels,
            is_exact: self.noise.is_none(),
            total: self.before,
        };
        self.queue = HypothesisQueue::new(hypotheses.all());
    }

    /// True if a change removes more than the best one, or the same and is likelier.
    fn is_better(&self, hypothesis: &Hypothesis, remaining: u64) -> bool {
        let page = PageTree::new(&self.snapshot);
        let is_likelier =
            |best: &BestTrial| hypothesis.plausibility(&page) > best.hypothesis.plausibility(&page);
        let is_better = |best: &BestTrial| {
            remaining < best.remaining || remaining == best.remaining && is_likelier(best)
        };
        remaining < self.before && self.best.as_ref().is_none_or(is_better)
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
        let is_length = matches!(hypothesis.lever, Lever::Length { .. });
        let shown = fitted.unwrap_or(&self.shown);
        if is_length && fitted.is_none() && shown.are_covered(known, drawing) {
            return false;
        }
        let missing = shown.missing_in(drawing, difference);
        let page = PageTree::new(snapshot);
        !missing.iter().any(|shape| adds_space_for(&page, hypothesis, shape))
            && rims(&missing) <= rims(known) + MAX_HIDDEN
    }

    /// True if the round has its repair, and only other ways to write it are left to find.
    fn is_settled(&self) -> bool {
        let Some(best) = &self.best else { return false };
        if self.equivalents_left.is_some() {
            return false;
        }
        let left = best.remaining as f64 / self.before.max(1) as f64;
        let drawn_since = self.drawn - best.drawn;
        let is_late = self.drawn + MAX_EQUIVALENTS >= self.limits.trials;
        let is_stalled = |limit: usize| drawn_since >= limit || is_late;
        // Without noise, the cause leaves nothing at all.
        let solved = if self.noise.is_none() { 0.0 } else { SOLVED };
        left <= solved
            || left <= 1.0 - NEARLY_SOLVED && is_stalled(MAX_TRIALS_WITHOUT_GAIN)
            || best.gain(self.before) >= NEARLY_SOLVED
                && is_stalled(MAX_TRIALS_WITHOUT_GAIN_ELSEWHERE)
    }

    /// Applies the best trial to the page; returns true if there may be more to repair.
    fn accept_best(&mut self) -> bool {
        let Some(best) = self.best.take() else { return false };
        let gain = best.gain(self.before);
        if gain < MIN_GAIN || self.found.len() >= self.limits.repairs {
            return false;
        }
        let alternatives = best.alternatives(&self.judged, &PageTree::new(&self.snapshot));
        self.found.push(FoundRepair { hypothesis: best.hypothesis, gain, alternatives });
        (self.drawing, self.snapshot) = (best.page.drawing, best.page.snapshot);
        if let Some(screenshot) = best.page.fitted {
            self.shown = ShownShapes::new(&screenshot);
            self.screenshot = screenshot;
        }
        self.begin_round();
        true
    }

    /// Continues with other ways to write the repair.
    fn search_equivalents(&mut self) {
        let Some(best) = &self.best else { return };
        let page = PageTree::new(&self.snapshot);
        let found = &best.hypothesis;
        // With noise, what a color promises is less certain.
        let paint_share = if self.noise.is_none() { 0.9 } else { 0.5 };
        let is_other_way = |other: &Hypothesis| {
            let is_paint = other.lever == Lever::Value
                && found.lever == Lever::Value
                && (page.contains(other.element, found.element)
                    || page.contains(found.element, other.element))
                && other.priority >= paint_share * found.priority;
            let is_space = matches!(other.lever, Lever::Length { .. });
            let is_near = other.priority >= 0.8 * PARALLEL || found.lever == Lever::Alignment;
            is_paint || other.lever == Lever::Alignment || is_space && is_near
        };
        self.queue.retain(is_other_way);
        self.queue.extend(equivalents(&page, found));
        self.equivalents_left = Some(MAX_EQUIVALENTS.min(self.queue.len()));
    }
}
