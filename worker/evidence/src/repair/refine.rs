//! Refinement of a length's value by the result of a trial.

use super::{
    changeable_length::LengthProperty,
    equivalent_repairs::{equivalents, single_elements},
    hypothesis::{Hypothesis, HypothesisKind},
    shift_field::{ShiftField, ShiftMatch},
};
use crate::{element_tree::PageTree, raster::Raster};
use std::collections::BTreeMap;

/// Minimum share of the difference that a change removes if it is another way to write the right
/// one.
pub(super) const NEARLY_SOLVED: f64 = 0.9;
/// Minimum cosine of the shifts of a change that is taken for the right one.
const MIN_COSINE: f64 = 0.85;
/// Priority of a change whose shifts have the right direction, times their cosine.
pub(super) const PARALLEL: f64 = 200.0;
/// Factor of the priority of further values of a change that moves content in another direction.
const DOUBTED: f64 = 0.5;
/// Smallest step of line heights that usually changes the picture, in CSS pixels.
const MIN_LINE_STEP: f64 = 0.5;
/// Minimum share of the difference that a value removes before others near it are tried.
const MIN_GAIN: f64 = 0.1;
/// Decrease of the priority of a property's next value for each value tried.
const TURN: f64 = 8.0;
/// Maximum number of values of one property that are tried.
const MAX_TRACK: usize = 10;

/// Tried values of a round, by elements and property.
#[derive(Debug, Default)]
pub(super) struct Tracks {
    tracks: BTreeMap<(Vec<usize>, LengthProperty), Track>,
}

/// A rendered change, with the differences before and after it.
pub(super) struct MeasuredTrial<'trial> {
    pub hypothesis: &'trial Hypothesis,
    pub drawing: &'trial Raster,
    /// Further shift of the screenshot to fit it.
    pub offset: [i32; 2],
    pub before: u64,
    pub remaining: u64,
    /// True if the pictures are without noise.
    pub is_exact: bool,
}

impl MeasuredTrial<'_> {
    /// Share of the difference that the change removes; negative if it adds to it.
    fn gain(&self) -> f64 {
        1.0 - self.remaining as f64 / self.before.max(1) as f64
    }

    /// Other ways to write the change, and the change of single elements.
    fn other_ways(&self, page: &PageTree<'_>) -> Vec<Hypothesis> {
        let gain = self.gain();
        let mut proposed = Vec::new();
        if gain > NEARLY_SOLVED {
            let raised =
                |other: Hypothesis| Hypothesis { priority: other.priority + 100.0 * gain, ..other };
            proposed
                .extend(equivalents(page, self.hypothesis, self.is_exact).into_iter().map(raised));
        }
        if gain > MIN_GAIN && self.remaining > 0 {
            let priority = 60.0 + 130.0 * gain;
            let alone = single_elements(page, self.hypothesis).into_iter();
            proposed.extend(alone.map(|other| Hypothesis { priority, ..other }));
        }
        proposed
    }

    /// Further changes of the length, which was `present` before, with their priorities.
    fn further_deltas(
        &self,
        (property, delta): (LengthProperty, f64),
        present: f64,
        track: &Track,
        shifts: Option<ShiftMatch>,
    ) -> Vec<(f64, f64)> {
        // Each trial lowers the priority, so that properties alternate.
        let tried = TURN * track.len() as f64;
        let is_parallel = |found: &ShiftMatch| found.cosine.abs() > MIN_COSINE;
        // Line heights render in half pixels, so smaller steps change nothing.
        let whole = |delta: f64| match property {
            LengthProperty::LineHeight => {
                ((present + delta) / MIN_LINE_STEP).round() * MIN_LINE_STEP - present
            }
            _ => delta,
        };
        let mut deltas = Vec::new();
        if let Some(found) = shifts.filter(is_parallel) {
            let better = delta * found.factor;
            let priority = PARALLEL * found.cosine.powi(4) + 50.0 * self.gain() - tried;
            deltas.push(((present + better).round() - present, priority));
            if property.step() < 1.0 {
                deltas.push((whole(rounded(better, property)), priority - 1.0));
            }
        }
        // A change that moves content another way is hardly the cause, whatever it happens to
        // cover.
        let trust = if shifts.is_none_or(|found| is_parallel(&found)) { 1.0 } else { DOUBTED };
        let brackets = brackets(track, self.before, property).into_iter();
        deltas.extend(brackets.map(|(delta, priority)| (whole(delta), trust * (priority - tried))));
        deltas
    }
}

impl Tracks {
    /// Values to try after a trial.
    pub fn refined(
        &mut self,
        page: &PageTree<'_>,
        field: &ShiftField,
        trial: &MeasuredTrial<'_>,
    ) -> Vec<Hypothesis> {
        let hypothesis = trial.hypothesis;
        let HypothesisKind::Length { property, delta } = hypothesis.kind else {
            return super::shadow::refined(hypothesis, trial.gain());
        };
        let mut proposed = trial.other_ways(page);
        let elements = &hypothesis.change.elements;
        let key = (elements.clone(), property);
        let track = self.tracks.entry(key).or_insert_with(|| vec![(0.0, trial.before)]);
        track.push((delta, trial.remaining));
        track.sort_by(|one, other| one.0.total_cmp(&other.0));
        if track.len() > MAX_TRACK {
            return proposed;
        }
        let present = property.length(page, hypothesis.element);
        let shifts = field.compare(trial.drawing, trial.offset);
        let deltas = trial.further_deltas((property, delta), present, track, shifts);
        let deltas = deltas.into_iter().filter(|(delta, _)| delta.abs() > 0.01);
        proposed.extend(deltas.filter_map(|(delta, priority)| {
            let element = hypothesis.element;
            Hypothesis::length(page, element, elements, (property, delta), priority)
        }));
        proposed
    }
}

/// Tried values of one property with the difference that each leaves, sorted.
type Track = Vec<(f64, u64)>;

/// Values on both sides of the best one so far, with their priorities.
fn brackets(track: &[(f64, u64)], before: u64, property: LengthProperty) -> Vec<(f64, f64)> {
    let lowest = track.iter().enumerate().min_by_key(|(_, (_, remaining))| *remaining);
    let Some((at, &(value, lowest))) = lowest else { return Vec::new() };
    let own_gain = 1.0 - lowest as f64 / before.max(1) as f64;
    if own_gain < MIN_GAIN {
        return Vec::new();
    }
    let priority = 50.0 + 130.0 * own_gain;
    let step = match property {
        LengthProperty::LineHeight => MIN_LINE_STEP,
        other => other.step(),
    };
    let reach = |other: Option<&(f64, u64)>, way: f64| match other {
        Some((other, _)) => rounded((value + other) / 2.0, property),
        None => rounded(value + way * value.abs().max(step), property),
    };
    let below = reach(at.checked_sub(1).and_then(|at| track.get(at)), -1.0);
    let mut deltas = vec![(below, priority), (reach(track.get(at + 1), 1.0), priority)];
    if own_gain > 0.5 {
        deltas.extend([(value - step, priority - 1.0), (value + step, priority - 1.0)]);
    }
    deltas
}

fn rounded(value: f64, property: LengthProperty) -> f64 {
    (value / property.step()).round() * property.step()
}
