//! A round of a search: its first hypotheses, and the one repair that it ends with.

use super::{FoundRepair, MIN_GAIN, RepairSearch, choose_best_trial::BestTrial};
use crate::{
    difference::PixelDifference,
    element_tree::PageTree,
    regions::is_lost_in_noise,
    repair::{
        areas::DifferenceAreas,
        equivalent_repairs::equivalents,
        first_hypotheses::FirstHypotheses,
        hypothesis::{Hypothesis, HypothesisKind},
        hypothesis_queue::HypothesisQueue,
        missing::{MissingShape, ShownShapes},
        refine::{NEARLY_SOLVED, PARALLEL, Tracks},
        shift_field::ShiftField,
    },
};
use std::cell::OnceCell;

/// Maximum share of the difference that remains of a repaired page.
const SOLVED: f64 = 0.003;
/// Maximum number of drawings for other ways to write a repair.
const MAX_EQUIVALENTS: usize = 18;
/// Number of drawings without an improvement after which a nearly solved round ends.
const MAX_TRIALS_WITHOUT_GAIN: usize = 10;
/// The same if differences remain elsewhere, which the same cause may have.
const MAX_TRIALS_WITHOUT_GAIN_ELSEWHERE: usize = 20;

/// Hypotheses and trials of a round.
#[derive(Debug, Default)]
pub(super) struct SearchRound {
    pub field: ShiftField,
    pub areas: DifferenceAreas,
    /// Sum of the differences without a further repair.
    pub before: u64,
    pub queue: HypothesisQueue,
    pub tracks: Tracks,
    /// Tried changes, with the difference that each leaves.
    pub measured: Vec<(Hypothesis, u64)>,
    pub best: Option<BestTrial>,
    /// Shapes that the page lacks before the repair.
    pub missing: OnceCell<Vec<MissingShape>>,
    /// Number of drawings left for other ways to write the repair; `None` before it is found.
    pub equivalents_left: Option<usize>,
}

impl RepairSearch {
    pub(super) fn begin_round(&mut self) {
        let page = PageTree::new(&self.snapshot);
        let (screenshot, drawing) = (&self.screenshot, &self.drawing);
        let difference = PixelDifference::for_page(screenshot, drawing, &self.noise, Some(&page));
        self.round = SearchRound {
            areas: DifferenceAreas::new(&difference),
            before: difference.total(),
            ..SearchRound::default()
        };
        let is_over = self.round.before == 0 || self.found.len() >= self.limits.repairs;
        if is_over || is_lost_in_noise(&difference, &self.noise) {
            return;
        }
        self.round.field = ShiftField::new(&page, drawing, screenshot);
        let hypotheses = FirstHypotheses {
            page: &page,
            screenshot,
            drawing,
            difference: &difference,
            field: &self.round.field,
            tolerance: self.noise.flat_levels,
            is_exact: self.noise.is_none(),
            total: self.round.before,
        };
        self.round.queue.waiting = hypotheses.all();
    }

    /// True if the round has its repair, and only other ways to write it are left to find.
    pub(super) fn has_repair(&self) -> bool {
        let Some(best) = &self.round.best else { return false };
        if self.round.equivalents_left.is_some() {
            return false;
        }
        let left = best.remaining as f64 / self.round.before.max(1) as f64;
        let drawn_since = self.drawn - best.drawn;
        let is_late = self.drawn + MAX_EQUIVALENTS >= self.limits.trials;
        let is_stalled = |limit: usize| drawn_since >= limit || is_late;
        // Without noise, the cause leaves nothing at all.
        let solved = if self.noise.is_none() { 0.0 } else { SOLVED };
        left <= solved
            || left <= 1.0 - NEARLY_SOLVED && is_stalled(MAX_TRIALS_WITHOUT_GAIN)
            || best.gain() >= NEARLY_SOLVED && is_stalled(MAX_TRIALS_WITHOUT_GAIN_ELSEWHERE)
    }

    /// Continues with other ways to write the repair.
    pub(super) fn search_equivalents(&mut self) {
        let Some(best) = &self.round.best else { return };
        let page = PageTree::new(&self.snapshot);
        let found = &best.hypothesis;
        // With noise, what a color promises is less certain.
        let paint_share = if self.noise.is_none() { 0.9 } else { 0.5 };
        let is_other_way = |other: &Hypothesis| {
            let is_paint = other.kind == HypothesisKind::Value
                && found.kind == HypothesisKind::Value
                && (page.contains(other.element, found.element)
                    || page.contains(found.element, other.element))
                && other.priority >= paint_share * found.priority;
            let is_near =
                other.priority >= 0.8 * PARALLEL || found.kind == HypothesisKind::Alignment;
            is_paint || other.kind == HypothesisKind::Alignment || other.is_length() && is_near
        };
        let waiting = &mut self.round.queue.waiting;
        waiting.retain(is_other_way);
        waiting.extend(equivalents(&page, found, self.noise.is_none()));
        self.round.equivalents_left = Some(MAX_EQUIVALENTS.min(waiting.len()));
    }

    /// Applies the best trial to the page; returns true if there may be more to repair.
    pub(super) fn accept_best(&mut self) -> bool {
        let Some(best) = self.round.best.take() else { return false };
        let gain = best.gain();
        if gain < MIN_GAIN || self.found.len() >= self.limits.repairs {
            return false;
        }
        let SearchRound { before, measured, .. } = &self.round;
        let alternatives = best.alternatives(measured, &PageTree::new(&self.snapshot));
        let explained = (*before as f64 - best.remaining as f64) / self.initial.max(1) as f64;
        let hypothesis = best.hypothesis;
        self.found.push(FoundRepair { hypothesis, gain, explained, alternatives });
        (self.drawing, self.snapshot) = (best.drawing, best.snapshot);
        if let Some((screenshot, offset)) = best.fitted {
            if let Some(unshifted) = &mut self.unshifted {
                unshifted.shift_by(offset);
            }
            self.shown = ShownShapes::new(&screenshot);
            self.screenshot = screenshot;
        }
        self.begin_round();
        true
    }
}
