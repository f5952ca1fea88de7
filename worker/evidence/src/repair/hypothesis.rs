//! A change of the page that may explain a difference.

use super::lever::LengthProperty;
use crate::{
    page::PageTree,
    snapshot::{PageChange, PageEdit},
};

/// A change to try, and how much is expected of it.
#[derive(Clone, Debug)]
pub(crate) struct Hypothesis {
    /// The element that stands for all that are changed.
    pub element: usize,
    pub change: PageChange,
    pub lever: Lever,
    /// The computed value before the change.
    pub is: String,
    /// Larger is tried sooner.
    pub priority: f64,
}

/// Subject of a hypothesis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Lever {
    /// Lengths of a property, by so many CSS pixels.
    Length { property: LengthProperty, delta: f64 },
    /// One value, which is not refined.
    Value,
}

impl Hypothesis {
    /// Likelihood of the change among others that draw the same picture: larger where the code states a
    /// length already, and where the new one is round or none.
    pub fn plausibility(&self, page: &PageTree<'_>) -> f64 {
        let Lever::Length { property, delta } = self.lever else { return 0.0 };
        let present = property.length(page, self.element);
        let is_stated = present.abs() > 0.0 && !property.is_normal(page, self.element);
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
