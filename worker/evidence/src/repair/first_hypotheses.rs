//! First hypotheses of a search, from what the pictures and the page show.

mod alignment;
mod box_growth;
mod measured_outline;
mod measured_text;
mod outlines;
mod paint;
mod predicted_shifts;
mod spacing;
mod stretched_rows;
mod text_alignment;
mod text_styles;
mod visibility;

#[cfg(test)]
mod long_list_tests;
#[cfg(test)]
mod tests;

pub(super) use visibility::is_unseen;

use super::{
    changeable_length::LengthProperty,
    hypothesis::{Hypothesis, HypothesisKind},
    shift_field::ShiftField,
};
use crate::{
    bounds::grown, difference::PixelDifference, element_tree::PageTree, raster::Raster,
    snapshot::PageChange,
};
use LengthProperty as P;

/// Maximum total area of the elements that are measured, in areas of the picture: elements within
/// each other share their pixels, and hostile code has thousands that cover the page.
const MAX_AREA: f64 = 24.0;

/// Inputs of the first hypotheses.
pub(crate) struct FirstHypotheses<'page> {
    pub page: &'page PageTree<'page>,
    pub screenshot: &'page Raster,
    pub drawing: &'page Raster,
    pub difference: &'page PixelDifference<'page>,
    pub field: &'page ShiftField,
    pub tolerance: u8,
    /// True if the pictures are without noise.
    pub is_exact: bool,
    pub total: u64,
}

impl FirstHypotheses<'_> {
    /// Every hypothesis that the pictures suggest, with its priority.
    pub fn all(&self) -> Vec<Hypothesis> {
        let differing = self.page.visible().filter(|&index| self.differs(index));
        let differing =
            self.drawing.smallest_within(differing, MAX_AREA, |index| self.page.bounds(index));
        let mut found = self.paint(&differing);
        found.extend(self.outlines(&differing));
        found.extend(self.measured_outlines(&differing));
        found.extend(self.text_styles(&differing));
        found.extend(self.measured_texts(&differing));
        found.extend(self.image_sizes(&differing));
        found.extend(self.spaces());
        found.extend(self.grown_boxes());
        found.extend(self.stretched_rows());
        found.extend(self.predicted_spaces());
        found.extend(self.alignments());
        found.extend(self.removals(&differing));
        found.extend(self.appearances());
        found
    }

    /// The element and similar ones that differ too.
    pub(super) fn members(&self, index: usize) -> Vec<usize> {
        let alike = self.page.alike(index);
        let is_shared = alike.contains(&index)
            && self.differs(index)
            && alike.iter().any(|&other| other != index && self.differs(other));
        if is_shared { alike } else { vec![index] }
    }

    /// True if an element's box has a difference, or its surroundings.
    fn differs(&self, index: usize) -> bool {
        self.difference.differs_in(grown(self.page.bounds(index), 2))
    }

    /// Every similar element if all of them are as described, or else this one.
    pub(super) fn all_or_one(&self, index: usize, is_same: impl Fn(&usize) -> bool) -> Vec<usize> {
        let alike = self.page.alike(index);
        let is_shared = alike.len() > 1 && alike.contains(&index) && alike.iter().all(is_same);
        if is_shared { alike } else { vec![index] }
    }

    pub(super) fn share(&self, weight: u64) -> f64 {
        weight as f64 / self.total.max(1) as f64
    }

    /// A value for those of some elements that have another one.
    pub(super) fn value(
        &self,
        elements: &[usize],
        property: &str,
        value: &str,
        likely: f64,
    ) -> Option<Hypothesis> {
        let present = |element: usize| self.page.style(element, computed_name(property));
        let others: Vec<usize> =
            elements.iter().copied().filter(|&element| present(element) != value).collect();
        let element = *others.first()?;
        let change = PageChange::declare(&others, property, value);
        let (kind, is) = (HypothesisKind::Value, present(element).to_owned());
        Some(Hypothesis { element, change, kind, is, priority: 100.0 * likely })
    }

    pub(super) fn length(
        &self,
        elements: &[usize],
        property: P,
        delta: f64,
        likely: f64,
    ) -> Option<Hypothesis> {
        let element = *elements.first()?;
        Hypothesis::length(self.page, element, elements, (property, delta), 100.0 * likely)
    }

    /// Lengths with their changes and likelihoods.
    pub(super) fn lengths(
        &self,
        elements: &[usize],
        changes: impl IntoIterator<Item = (P, f64, f64)>,
    ) -> impl Iterator<Item = Hypothesis> {
        changes
            .into_iter()
            .filter_map(|(property, delta, likely)| self.length(elements, property, delta, likely))
    }
}

/// The computed property that holds the present value of a shorthand.
fn computed_name(property: &str) -> &str {
    match property {
        "border-color" => "border-top-color",
        other => other,
    }
}
