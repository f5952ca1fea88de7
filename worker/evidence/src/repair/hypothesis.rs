//! A change of the page that may explain a difference.

use super::lever::LengthProperty;
use crate::snapshot::{PageChange, PageEdit};

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
