//! The search for repairs: proposes a drawing, judges it, proposes the next.

use super::{
    field::ShiftField,
    hypothesis::{Hypothesis, Lever},
    lever::LengthProperty,
    seeds::Seeds,
};
use crate::{
    difference::PixelDifference,
    measure::PicturePair,
    noise::PairNoise,
    page::PageTree,
    raster::Raster,
    snapshot::{PageChange, Snapshot},
};
use std::collections::{BTreeMap, BTreeSet};

/// Bounds of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepairLimits {
    /// Drawings to make at most.
    pub trials: usize,
    /// Repairs to find at most.
    pub repairs: usize,
}

impl Default for RepairLimits {
    fn default() -> Self {
        Self { trials: 60, repairs: 3 }
    }
}

/// Share of the difference that a repair takes away at least.
const MIN_GAIN: f64 = 0.25;
/// Share of the difference that may remain of a page that is repaired.
const SOLVED: f64 = 0.003;
/// Share of the difference that a change takes away which is likely another one, written otherwise.
const NEARLY_SOLVED: f64 = 0.9;
/// Likeness of shifts from which a change is taken for the right one.
const MIN_COSINE: f64 = 0.85;
/// Values of one property that are tried at most.
const MAX_TRACK: usize = 10;
/// Drawings made to find other ways to write a repair.
const MAX_EQUIVALENTS: usize = 12;
/// Other ways named at most.
const MAX_ALTERNATIVES: usize = 4;

/// A change that takes differences away.
#[derive(Clone, Debug)]
pub(crate) struct FoundRepair {
    pub hypothesis: Hypothesis,
    /// Share of the difference before it that it takes away.
    pub gain: f64,
    pub alternatives: Vec<Hypothesis>,
}

/// A search for the changes of a page that repair its differences.
#[derive(Debug)]
pub struct RepairSearch {
    screenshot: Raster,
    noise: PairNoise,
    limits: RepairLimits,
    snapshot: Snapshot,
    drawing: Raster,
    field: ShiftField,
    initial: u64,
    before: u64,
    queue: Vec<Hypothesis>,
    tried: BTreeSet<String>,
    tracks: BTreeMap<(Vec<usize>, LengthProperty), Track>,
    current: Option<Hypothesis>,
    best: Option<BestTrial>,
    equals: Vec<Hypothesis>,
    equivalents_left: Option<usize>,
    found: Vec<FoundRepair>,
    drawn: usize,
}

/// Values of one property that were tried, and the difference that each leaves.
type Track = Vec<(f64, u64)>;

#[derive(Debug)]
struct BestTrial {
    hypothesis: Hypothesis,
    remaining: u64,
    drawing: Raster,
    snapshot: Snapshot,
}

impl RepairSearch {
    /// A search that begins with the differences of a pair.
    pub fn new(pair: &PicturePair<'_>, snapshot: &Snapshot, limits: RepairLimits) -> Self {
        let mut search = Self {
            screenshot: pair.screenshot().clone(),
            noise: *pair.noise(),
            limits,
            snapshot: snapshot.clone(),
            drawing: pair.drawing().clone(),
            field: ShiftField::default(),
            initial: 0,
            before: 0,
            queue: Vec::new(),
            tried: BTreeSet::new(),
            tracks: BTreeMap::new(),
            current: None,
            best: None,
            equals: Vec::new(),
            equivalents_left: None,
            found: Vec::new(),
            drawn: 0,
        };
        search.begin_round();
        search.initial = search.before;
        search
    }

    /// The changes of the next drawing; none when the search is over.
    pub fn next_drawing(&mut self) -> Option<Vec<PageChange>> {
        loop {
            if self.drawn >= self.limits.trials || self.equivalents_left == Some(0) {
                self.queue.clear();
            }
            let best = self.queue.iter().enumerate();
            let best = best.max_by(|(at, one), (other_at, other)| {
                one.priority.total_cmp(&other.priority).then(other_at.cmp(at))
            });
            let Some((place, _)) = best else {
                if self.accept_best() {
                    continue;
                }
                return None;
            };
            let hypothesis = self.queue.remove(place);
            if !self.tried.insert(format!("{:?}", hypothesis.change)) {
                continue;
            }
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

    /// Judges the drawing that was asked for last.
    pub fn judge(&mut self, drawing: Raster, snapshot: Snapshot) {
        let Some(hypothesis) = self.current.take() else { return };
        let same_size =
            drawing.width() == self.drawing.width() && drawing.height() == self.drawing.height();
        if !same_size {
            return;
        }
        let remaining = PixelDifference::new(&self.screenshot, &drawing, &self.noise).total();
        if let Some(left) = self.equivalents_left {
            self.judge_equivalent(hypothesis, remaining);
            self.equivalents_left = Some(left);
            return;
        }
        self.refine(&hypothesis, remaining, &drawing);
        let is_better = self.best.as_ref().is_none_or(|best| remaining < best.remaining);
        if is_better && remaining < self.before {
            self.best = Some(BestTrial { hypothesis, remaining, drawing, snapshot });
        }
        if self.is_solved() {
            self.search_equivalents();
        }
    }

    /// Repairs found, in the order in which they were accepted, the share of all differences that they
    /// take away, and what still differs.
    pub(crate) fn into_found(mut self) -> (Vec<FoundRepair>, f64, PixelDifference) {
        while self.accept_best() {}
        let explained = 1.0 - self.before as f64 / self.initial.max(1) as f64;
        let remaining = PixelDifference::new(&self.screenshot, &self.drawing, &self.noise);
        (self.found, explained, remaining)
    }

    /// Number of drawings that were asked for.
    pub fn drawn(&self) -> usize {
        self.drawn
    }

    pub(crate) fn is_over(&self) -> bool {
        self.before == 0
    }

    fn begin_round(&mut self) {
        let difference = PixelDifference::new(&self.screenshot, &self.drawing, &self.noise);
        self.before = difference.total();
        self.queue.clear();
        self.tried.clear();
        self.tracks.clear();
        self.equals.clear();
        self.equivalents_left = None;
        if self.before == 0 || self.found.len() >= self.limits.repairs {
            return;
        }
        let page = PageTree::new(&self.snapshot);
        self.field = ShiftField::new(&page, &self.drawing, &self.screenshot);
        let seeds = Seeds {
            page: &page,
            screenshot: &self.screenshot,
            drawing: &self.drawing,
            difference: &difference,
            field: &self.field,
            tolerance: self.noise.flat_levels,
            is_exact: self.noise.is_none(),
            total: self.before,
        };
        self.queue = seeds.hypotheses();
    }

    fn is_solved(&self) -> bool {
        self.best
            .as_ref()
            .is_some_and(|best| (best.remaining as f64) <= SOLVED * self.before as f64)
    }

    /// Takes the best trial over into the page; says whether there may be more to repair.
    fn accept_best(&mut self) -> bool {
        let Some(best) = self.best.take() else { return false };
        let gain = 1.0 - best.remaining as f64 / self.before.max(1) as f64;
        if gain < MIN_GAIN || self.found.len() >= self.limits.repairs {
            return false;
        }
        let alternatives = self.equals.drain(..).take(MAX_ALTERNATIVES).collect();
        self.found.push(FoundRepair { hypothesis: best.hypothesis, gain, alternatives });
        (self.drawing, self.snapshot) = (best.drawing, best.snapshot);
        self.begin_round();
        true
    }

    /// Proposes better values where a trial says so.
    fn refine(&mut self, hypothesis: &Hypothesis, remaining: u64, drawing: &Raster) {
        let page = PageTree::new(&self.snapshot);
        let gain = 1.0 - remaining as f64 / self.before.max(1) as f64;
        let Lever::Length { property, delta } = hypothesis.lever else {
            self.queue.extend(super::shadow::refined(hypothesis, gain));
            return;
        };
        if gain > NEARLY_SOLVED {
            let others = super::equivalents::equivalents(&page, hypothesis);
            self.queue.extend(
                others
                    .into_iter()
                    .map(|other| Hypothesis { priority: other.priority + 100.0 * gain, ..other }),
            );
        }
        let base = property.length(&page, hypothesis.element);
        let step = property.step();
        let rounded = |value: f64| (value / step).round() * step;
        let mut deltas: Vec<(f64, f64)> = Vec::new();
        if let Some(found) = self.field.compare(drawing)
            && found.cosine.abs() > MIN_COSINE
        {
            let better = delta * found.factor;
            let priority = 200.0 * found.cosine.abs() + 50.0 * gain;
            deltas.push(((base + better).round() - base, priority));
            if property.step() < 1.0 {
                deltas.push((rounded(better), priority - 1.0));
            }
        }
        let key = (hypothesis.change.elements.clone(), property);
        let track = self.tracks.entry(key).or_insert_with(|| vec![(0.0, self.before)]);
        track.push((delta, remaining));
        let is_exhausted = track.len() > MAX_TRACK;
        track.sort_by(|one, other| one.0.total_cmp(&other.0));
        let lowest = track.iter().enumerate().min_by_key(|(_, (_, remaining))| *remaining);
        if let Some((at, &(value, lowest))) = lowest
            && lowest < self.before
            && !is_exhausted
        {
            let own_gain = 1.0 - lowest as f64 / self.before.max(1) as f64;
            let priority = 50.0 + 130.0 * own_gain;
            let reach = |other: Option<&(f64, u64)>, way: f64| match other {
                Some((other, _)) => rounded((value + other) / 2.0),
                None => rounded(value + way * value.abs().max(step)),
            };
            deltas.push((reach(at.checked_sub(1).and_then(|at| track.get(at)), -1.0), priority));
            deltas.push((reach(track.get(at + 1), 1.0), priority));
            if own_gain > 0.5 {
                deltas.push((value - step, priority - 1.0));
                deltas.push((value + step, priority - 1.0));
            }
        }
        for (delta, priority) in deltas {
            let change = property.change(&page, &hypothesis.change.elements, delta);
            if let Some(change) = change.filter(|_| delta.abs() > 0.01) {
                let lever = Lever::Length { property, delta };
                self.queue.push(Hypothesis { change, lever, priority, ..hypothesis.clone() });
            }
        }
    }

    /// Goes on with other ways to write the change that was found.
    fn search_equivalents(&mut self) {
        let Some(best) = &self.best else { return };
        let page = PageTree::new(&self.snapshot);
        let found = &best.hypothesis;
        let is_other_paint = |other: &Hypothesis| {
            let is_value = other.lever == Lever::Value && found.lever == Lever::Value;
            let is_near = page.contains(other.element, found.element);
            is_value && is_near && other.priority >= 0.9 * found.priority
        };
        self.queue.retain(is_other_paint);
        self.queue.extend(super::equivalents::equivalents(&page, found));
        self.equivalents_left = Some(MAX_EQUIVALENTS.min(self.queue.len()));
    }

    fn judge_equivalent(&mut self, hypothesis: Hypothesis, remaining: u64) {
        let Some(best) = &self.best else { return };
        let allowed = best.remaining as f64 + SOLVED * self.before as f64;
        if remaining as f64 <= allowed {
            self.equals.push(hypothesis);
        }
    }
}
