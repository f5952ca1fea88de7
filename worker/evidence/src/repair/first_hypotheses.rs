//! First hypotheses of a search, from what the pictures and the page show.

mod alignment;
mod box_growth;
mod images;
mod measured_outline;
mod measured_text;
mod outlines;
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
    paint::{PaintEstimate, PaintView},
    shift_field::ShiftField,
};
use crate::{
    difference::PixelDifference,
    element_tree::{PageTree, grown},
    raster::Raster,
    snapshot::{PageChange, PageEdit},
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
    pub difference: &'page PixelDifference,
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

    /// Colors and opacities, with the share of the difference that they promise to remove as
    /// priority.
    fn paint(&self, differing: &[usize]) -> Vec<Hypothesis> {
        let view = PaintView {
            page: self.page,
            screenshot: self.screenshot,
            drawing: self.drawing,
            difference: self.difference,
            tolerance: self.tolerance,
        };
        let estimates: Vec<_> = differing
            .iter()
            .flat_map(|&index| view.estimates(index).into_iter().map(move |found| (index, found)))
            .collect();
        let mut found = Vec::new();
        for (index, estimate) in &estimates {
            let is_same = |other: &PaintEstimate| {
                other.property == estimate.property && other.value == estimate.value
            };
            let alike = self.page.alike(*index);
            let group: Vec<(usize, u64)> = estimates
                .iter()
                .filter(|(other, value)| alike.contains(other) && is_same(value))
                .map(|(other, value)| (*other, value.weight))
                .collect();
            let depth = self.depth(*index);
            if group.len() > 1 && group.first().is_some_and(|(first, _)| first == index) {
                let members = group.iter().map(|(member, _)| *member).collect();
                let weight: u64 = group.iter().map(|(_, weight)| weight).sum();
                found.extend(self.value(
                    members,
                    estimate.property,
                    &estimate.value,
                    self.share(weight) + 0.02,
                    depth,
                ));
            }
            found.extend(self.value(
                vec![*index],
                estimate.property,
                &estimate.value,
                self.share(estimate.weight),
                depth,
            ));
        }
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

    fn depth(&self, index: usize) -> usize {
        std::iter::successors(Some(index), |&at| self.page.parent(at)).count()
    }

    pub(super) fn share(&self, weight: u64) -> f64 {
        weight as f64 / self.total.max(1) as f64
    }

    pub(super) fn value(
        &self,
        elements: Vec<usize>,
        property: &str,
        value: &str,
        likely: f64,
        depth: usize,
    ) -> Option<Hypothesis> {
        let present = |element: usize| self.page.style(element, computed_name(property));
        // The others have the value already.
        let elements: Vec<usize> =
            elements.into_iter().filter(|element| present(*element) != value).collect();
        let element = *elements.first()?;
        let is = present(element).to_owned();
        let edit = PageEdit::Declare { property: property.to_owned(), value: value.to_owned() };
        let change = PageChange { elements, edit };
        let priority = 100.0 * likely + depth as f64 * 0.05;
        Some(Hypothesis { element, change, kind: HypothesisKind::Value, is, priority })
    }

    pub(super) fn length(
        &self,
        elements: &[usize],
        property: P,
        delta: f64,
        likely: f64,
    ) -> Option<Hypothesis> {
        let element = *elements.first()?;
        let change = property.change(self.page, elements, delta)?;
        let is = property.current(self.page, element);
        let kind = HypothesisKind::Length { property, delta };
        Some(Hypothesis { element, change, kind, is, priority: 100.0 * likely })
    }
}

/// The computed property that holds the present value of a shorthand.
fn computed_name(property: &str) -> &str {
    match property {
        "border-color" => "border-top-color",
        other => other,
    }
}
