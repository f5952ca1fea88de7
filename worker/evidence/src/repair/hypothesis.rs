//! A change of the page that may explain a difference.

use super::changeable_length::LengthProperty;
use crate::{
    element_tree::PageTree,
    snapshot::{PageChange, PageEdit},
};

/// A change to try, with its priority.
#[derive(Clone, Debug)]
pub(crate) struct Hypothesis {
    /// The element that represents all changed ones.
    pub element: usize,
    pub change: PageChange,
    pub kind: HypothesisKind,
    /// The computed value before the change.
    pub is: String,
    /// Priority; the largest is tried first.
    pub priority: f64,
}

/// Subject of a hypothesis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum HypothesisKind {
    /// Lengths of a property, changed by this many CSS pixels.
    Length { property: LengthProperty, delta: f64 },
    /// A keyword that puts content elsewhere in its container.
    Alignment,
    /// A single value, which is not refined.
    Value,
}

impl Hypothesis {
    /// A length of elements, changed by this many CSS pixels; none if nothing would change.
    pub fn length(
        page: &PageTree<'_>,
        element: usize,
        elements: &[usize],
        (property, delta): (LengthProperty, f64),
        priority: f64,
    ) -> Option<Self> {
        let change = property.change(page, elements, delta)?;
        let kind = HypothesisKind::Length { property, delta };
        let is = property.current(page, element);
        Some(Self { element, change, kind, is, priority })
    }

    /// Likelihood of the change among others that render the same picture: the largest for a
    /// removal; larger if the code states a length already, and if the new length is round or zero.
    pub fn plausibility(&self, page: &PageTree<'_>) -> f64 {
        let (property, delta) = match self.kind {
            HypothesisKind::Length { property, delta } => (property, delta),
            HypothesisKind::Alignment => return 0.5,
            HypothesisKind::Value if self.change.edit == PageEdit::Remove => return 2.0,
            HypothesisKind::Value => return 0.0,
        };
        let present = property.length(page, self.element);
        // Browsers compute a size for every box, whether the code states one or not.
        let sizes = [LengthProperty::Width, LengthProperty::Height, LengthProperty::Size];
        let is_size = sizes.contains(&property);
        let is_stated = present.abs() > 0.0 && !is_size && !property.is_normal(page, self.element);
        let target = present + delta;
        let is_multiple = |of: f64| (target / of - (target / of).round()).abs() < 1e-6;
        let roundness = match target {
            target if target < 0.0 => -1.0,
            _ if is_multiple(4.0) => 0.4,
            _ if is_multiple(2.0) => 0.2,
            _ if is_multiple(1.0) => 0.0,
            _ => -0.5,
        };
        roundness + if is_stated { 1.0 } else { 0.0 }
    }

    /// True if lengths are changed.
    pub fn is_length(&self) -> bool {
        matches!(self.kind, HypothesisKind::Length { .. })
    }

    /// The property that is set; `display` for a removal.
    pub fn property(&self) -> &str {
        match &self.change.edit {
            PageEdit::Declare { property, .. } => property,
            PageEdit::Remove => "display",
        }
    }

    /// The value that is set.
    pub fn value(&self) -> &str {
        match &self.change.edit {
            PageEdit::Declare { value, .. } => value,
            PageEdit::Remove => "none",
        }
    }
}
