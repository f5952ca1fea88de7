//! Choice of the best trial: what a drawing removes, and whether it is better than the best so far.

use super::{MIN_GAIN, RepairSearch};
use crate::{
    bounds::{area, grown, intersection},
    difference::PixelDifference,
    element_tree::PageTree,
    raster::Raster,
    repair::{
        areas::gain,
        hypothesis::Hypothesis,
        missing::{MissingShape, ShownShapes, adds_space_for},
        refine::MeasuredTrial,
    },
    snapshot::{PageEdit, Snapshot},
};
use std::collections::BTreeSet;

/// Maximum number of edge pixels of the screenshot's content that a repair may hide.
const MAX_HIDDEN: usize = 30;

/// Share of the difference that a length may leave beyond another one in a noisy pair for each unit
/// of its plausibility: what noise leaves says little of the cause.
const LIKELIER: f64 = 0.05;

/// Property that places an element's content anew.
const DIRECTION: &str = "flex-direction";

/// Maximum distance of missing content from an element in its place, in pixels.
const BESIDE: i32 = 4;

/// Maximum share of a difference that a change leaves beyond the best drawing, if it is another way
/// to write it.
const EQUAL: f64 = 0.003;
/// Maximum number of other ways that are reported.
const MAX_ALTERNATIVES: usize = 4;

/// The trial that leaves the smallest difference.
#[derive(Debug)]
pub(super) struct BestTrial {
    pub hypothesis: Hypothesis,
    /// The difference without it, in the same place.
    pub before: u64,
    pub remaining: u64,
    /// The difference before it of the areas that it touches.
    pub touched: u64,
    /// The page with the change.
    pub drawing: Raster,
    pub snapshot: Snapshot,
    /// The screenshot that is shifted farther to fit it, and its further shift.
    pub fitted: Option<(Raster, [i32; 2])>,
    /// Number of drawings made until then.
    pub drawn: usize,
}

impl BestTrial {
    /// Share of the difference that it removes from the areas that it touches.
    pub fn gain(&self) -> f64 {
        gain(self.before, self.remaining, self.touched)
    }

    /// Other measured changes that leave as little, the likeliest first.
    pub fn alternatives(
        &self,
        measured: &[(Hypothesis, u64)],
        page: &PageTree<'_>,
    ) -> Vec<Hypothesis> {
        let allowed = self.remaining as f64 + EQUAL * self.touched as f64;
        let mut equal: Vec<&(Hypothesis, u64)> =
            measured.iter().filter(|(_, remaining)| *remaining as f64 <= allowed).collect();
        equal.sort_by_key(|(_, remaining)| *remaining);
        let subject = |hypothesis: &Hypothesis| {
            (hypothesis.element, family(hypothesis.property()).to_owned())
        };
        let mut seen = BTreeSet::from([subject(&self.hypothesis)]);
        let mut others: Vec<&Hypothesis> = equal.into_iter().map(|(other, _)| other).collect();
        others.retain(|other| seen.insert(subject(other)));
        others.sort_by(|one, other| other.plausibility(page).total_cmp(&one.plausibility(page)));
        others.into_iter().take(MAX_ALTERNATIVES).cloned().collect()
    }
}

impl RepairSearch {
    /// Takes the drawing that was requested last: measures what it removes, and keeps it if it is best.
    pub fn add_drawing(&mut self, drawing: Raster, snapshot: Snapshot) {
        let Some(hypothesis) = self.current.take() else { return };
        if drawing.size() != self.drawing.size() {
            return;
        }
        let fitted = self.fitted_screenshot(&drawing);
        let offset = fitted.as_ref().map_or([0, 0], |(_, offset)| *offset);
        let screenshot = fitted.as_ref().map_or(&self.screenshot, |(picture, _)| picture);
        let changed = PageTree::new(&snapshot);
        let difference =
            PixelDifference::for_page(screenshot, &drawing, &self.noise, Some(&changed));
        let remaining = difference.total();
        // What a further shift alone removes, the change does not.
        let shifted = fitted.as_ref().map(|(picture, _)| self.difference_from(picture).total());
        let (page, round) = (PageTree::new(&self.snapshot), &mut self.round);
        let before = round.before.min(shifted.unwrap_or(round.before));
        let touched = match shifted {
            Some(_) => before,
            None => round.areas.touched(&self.drawing, &drawing),
        };
        if round.equivalents_left.is_none() {
            let (hypothesis, drawing) = (&hypothesis, &drawing);
            let is_exact = self.noise.is_none();
            let trial = MeasuredTrial { hypothesis, drawing, offset, before, remaining, is_exact };
            round.queue.waiting.extend(round.tracks.refined(&page, &round.field, &trial));
        }
        if gain(before, remaining, touched) < MIN_GAIN {
            round.queue.defer_similar(&page, &hypothesis);
        }
        round.measured.push((hypothesis.clone(), remaining));
        if !self.is_better(&hypothesis, before, remaining) {
            return;
        }
        let shown = fitted.as_ref().map(|(picture, _)| ShownShapes::new(picture));
        if self.is_sensible(&hypothesis, &changed, &difference, shown.as_ref()) {
            let drawn = self.drawn;
            self.round.best = Some(BestTrial {
                hypothesis,
                before,
                remaining,
                touched,
                drawing,
                snapshot,
                fitted,
                drawn,
            });
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
        remaining < before && self.round.best.as_ref().is_none_or(is_better)
    }

    /// True if a change keeps the screenshot's content visible, and does not merely make space for
    /// missing content.
    fn is_sensible(
        &self,
        hypothesis: &Hypothesis,
        changed: &PageTree<'_>,
        difference: &PixelDifference<'_>,
        fitted: Option<&ShownShapes>,
    ) -> bool {
        let edge_pixels =
            |shapes: &[MissingShape]| shapes.iter().map(|shape| shape.edge_pixels).sum::<usize>();
        let known = self.round.missing.get_or_init(|| self.shown.missing_in(&self.difference()));
        if hypothesis.change.edit == PageEdit::Remove && self.is_beside_missing(hypothesis, known) {
            return false;
        }
        let shown = fitted.unwrap_or(&self.shown);
        let is_length = hypothesis.is_length();
        if is_length && fitted.is_none() && shown.are_covered(known, difference.drawing) {
            return false;
        }
        if hypothesis.property() == DIRECTION && !self.fits_within(hypothesis, changed, difference)
        {
            return false;
        }
        let missing = shown.missing_in(difference);
        !missing.iter().any(|shape| adds_space_for(changed, hypothesis, shape))
            && edge_pixels(&missing) <= edge_pixels(known) + MAX_HIDDEN
    }

    /// True if changed elements look within their boxes much more like the screenshot: another
    /// direction may merely give them the height of missing content.
    fn fits_within(
        &self,
        hypothesis: &Hypothesis,
        changed: &PageTree<'_>,
        difference: &PixelDifference<'_>,
    ) -> bool {
        let (present, before) = (PageTree::new(&self.snapshot), self.difference());
        let differing = |page: &PageTree<'_>, difference: &PixelDifference<'_>| -> usize {
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

/// `padding` or `margin` for their longhands, which count as one property; others unchanged.
fn family(property: &str) -> &str {
    let shorthand = ["padding", "margin"].into_iter().find(|name| property.starts_with(name));
    shorthand.unwrap_or(property)
}
