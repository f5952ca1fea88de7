//! A round of a search: its first hypotheses, and the one repair that it ends with.

use super::{FoundRepair, MIN_GAIN, RepairSearch};
use crate::{
    element_tree::PageTree,
    regions::is_lost_in_noise,
    repair::{
        areas::DifferenceAreas,
        equivalent_repairs::equivalents,
        first_hypotheses::FirstHypotheses,
        hypothesis::{Hypothesis, HypothesisKind},
        hypothesis_queue::HypothesisQueue,
        missing::ShownShapes,
        refine::{NEARLY_SOLVED, PARALLEL, Tracks},
        shift_field::ShiftField,
    },
};

/// Maximum share of the difference that remains of a repaired page.
const SOLVED: f64 = 0.003;
/// Maximum number of drawings for other ways to write a repair.
const MAX_EQUIVALENTS: usize = 18;
/// Number of drawings without an improvement after which a nearly solved round ends.
const MAX_TRIALS_WITHOUT_GAIN: usize = 10;
/// The same if differences remain elsewhere, which the same cause may have.
const MAX_TRIALS_WITHOUT_GAIN_ELSEWHERE: usize = 20;

impl RepairSearch {
    pub(super) fn begin_round(&mut self) {
        let difference = self.difference();
        self.before = difference.total();
        self.areas = DifferenceAreas::new(&difference);
        self.queue = HypothesisQueue::default();
        self.tracks = Tracks::default();
        self.measured.clear();
        self.missing = None;
        self.equivalents_left = None;
        if self.before == 0 || self.found.len() >= self.limits.repairs {
            return;
        }
        let page = PageTree::new(&self.snapshot);
        if is_lost_in_noise(&difference, &self.noise) {
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

    /// True if the round has its repair, and only other ways to write it are left to find.
    pub(super) fn has_repair(&self) -> bool {
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
            || best.gain() >= NEARLY_SOLVED && is_stalled(MAX_TRIALS_WITHOUT_GAIN_ELSEWHERE)
    }

    /// Continues with other ways to write the repair.
    pub(super) fn search_equivalents(&mut self) {
        let Some(best) = &self.best else { return };
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
            let is_space = matches!(other.kind, HypothesisKind::Length { .. });
            let is_near =
                other.priority >= 0.8 * PARALLEL || found.kind == HypothesisKind::Alignment;
            is_paint || other.kind == HypothesisKind::Alignment || is_space && is_near
        };
        self.queue.retain(is_other_way);
        self.queue.extend(equivalents(&page, found, self.noise.is_none()));
        self.equivalents_left = Some(MAX_EQUIVALENTS.min(self.queue.len()));
    }

    /// Applies the best trial to the page; returns true if there may be more to repair.
    pub(super) fn accept_best(&mut self) -> bool {
        let Some(best) = self.best.take() else { return false };
        let gain = best.gain();
        if gain < MIN_GAIN || self.found.len() >= self.limits.repairs {
            return false;
        }
        let alternatives = best.alternatives(&self.measured, &PageTree::new(&self.snapshot));
        let explained = (self.before as f64 - best.remaining as f64) / self.initial.max(1) as f64;
        let hypothesis = best.hypothesis;
        self.found.push(FoundRepair { hypothesis, gain, explained, alternatives });
        (self.drawing, self.snapshot) = (best.page.drawing, best.page.snapshot);
        if let Some((screenshot, offset)) = best.page.fitted {
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
